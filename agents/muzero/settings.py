"""A training's configuration, from a preset and settings as text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch

from hybridalloc.agents.muzero.training_config import PRESETS, TrainConfig
from hybridalloc.compose.members import as_solver
from hybridalloc.errors import UsageError

BOUND_SHARE = 0.1
"""The share of the time that lower bounds take, at most."""
SHOWN_SHARE = 0.3
"""The share that demonstrations take, at most."""
OPTIONAL = "demonstrations", "demonstrations.time_limit_s"
"""The parameters that may be ``null``."""


def configured(
    preset: str, settings: Iterable[str], *, imitates: bool, is_timed: bool
) -> TrainConfig:
    """The parameters of a training.

    Args:
        preset: The name of what to begin with.
        settings: Texts such as ``search.simulations=16``; values are JSON, or else
            plain text.
        imitates: Whether it begins by imitation.
        is_timed: Whether clocks may decide something.

    Raises:
        UsageError: A name or a value is not possible, or the device or a strategy is
            not there.
    """
    if preset not in PRESETS:
        names = ", ".join(PRESETS)
        raise UsageError(f"--preset {preset!r}: expected one of {names}")
    config = PRESETS[preset]
    if not is_timed:
        config = config.untimed()
    for setting in settings:
        config = _with(config, setting)
    if not imitates:
        config = replace(config, demonstrations=None)
    require_device(config.device)
    if config.demonstrations is not None:
        for strategy in config.demonstrations.strategies:
            as_solver(strategy)
    return config


def hurried(config: TrainConfig, seconds: float, programs: int) -> TrainConfig:
    """The same parameters, but most of the time is left for learning.

    Args:
        config: Limits that are not set remain so.
        seconds: Of the first sitting.
        programs: How many bounds and maps have to be found.
    """
    each_s = seconds / max(1, programs)
    bound_time_s = min(config.bound_time_s, BOUND_SHARE * each_s)
    shown = config.demonstrations
    if shown is not None and shown.time_limit_s is not None:
        each_s *= SHOWN_SHARE / max(1, len(shown.strategies))
        shown = replace(shown, time_limit_s=min(shown.time_limit_s, each_s))
    return replace(config, bound_time_s=bound_time_s, demonstrations=shown)


def require_device(device: str) -> None:
    """Refuse a device that is not there.

    Raises:
        UsageError: It is not.
    """
    try:
        torch.empty(1, device=device).cpu()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"device {device!r}: {reason} (try --preset cpu)") from error


def _with(config: TrainConfig, setting: str) -> TrainConfig:
    """A configuration with one parameter changed."""
    name, equals, text = setting.partition("=")
    if not equals:
        raise UsageError(f"--set {setting!r}: expected NAME=VALUE")
    parameters = config.as_dict()
    place: Any = parameters
    *path, last = name.strip().split(".")
    for part in path:
        place = place.get(part) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        raise UsageError(f"--set {setting!r}: there is no parameter {name!r}")
    old, new = place[last], _value(text)
    place[last] = new
    is_fitting = _is_like(new, old)
    if old is None or new is None:
        is_fitting = ".".join((*path, last)) in OPTIONAL
    try:
        if not is_fitting:
            raise ValueError(f"expected something like {json.dumps(old)}")
        return TrainConfig.from_dict(parameters)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"--set {setting!r}: {error}") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _is_like(new: Any, old: Any) -> bool:
    """Whether a value is of the kind of another; whole numbers are numbers.

    >>> _is_like(2, 0.5), _is_like(0.5, 2), _is_like(["a"], ("b",)), _is_like(1, "a")
    (True, False, True, False)
    """
    if isinstance(old, bool) or isinstance(new, bool):
        return isinstance(old, bool) and isinstance(new, bool)
    if isinstance(old, list | tuple):
        return isinstance(new, list)
    if isinstance(old, float):
        return isinstance(new, int | float)
    return isinstance(new, type(old))
