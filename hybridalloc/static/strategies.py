"""The strategies for static allocation, from their texts."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from hybridalloc.compose import parse_single, split_singles
from hybridalloc.compose.options import configure
from hybridalloc.errors import UsageError
from hybridalloc.registry import (
    COMBINATORS,
    NAME,
    STATIC_STRATEGIES,
    STRATEGIES,
    nearest,
)
from hybridalloc.static.solver import StaticSolver

DEFAULT_STRATEGY = "race"
PROGRAM_DEFAULT = "hybrid"
"""The default for programs, which stands for the default here."""


def static_text(text: str) -> str:
    """The text of a strategy without blanks around it; of the default, its name."""
    stripped = text.strip()
    return DEFAULT_STRATEGY if stripped == PROGRAM_DEFAULT else stripped


def static_texts(text: str) -> tuple[str, ...]:
    """The texts in a list of strategies, separated by commas.

    Raises:
        UsageError: One of them is no strategy for static allocation.
    """
    texts = tuple(map(static_text, split_singles(text)))
    for each in texts:
        static_solver(each)
    return texts


def load_static(name: str) -> Callable[..., StaticSolver]:
    """The class of the strategy for static allocation of this name.

    Raises:
        UsageError: There is no such strategy.
    """
    if name in STATIC_STRATEGIES:
        module, _, attribute = STATIC_STRATEGIES[name].location.partition(":")
        return cast(
            Callable[..., StaticSolver], getattr(import_module(module), attribute)
        )
    expected = f"expected one for static allocation: {', '.join(STATIC_STRATEGIES)}"
    if name in STRATEGIES or name in COMBINATORS:
        raise UsageError(f"strategy {name!r} is for programs; {expected}")
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of one strategy; {expected}")
    hint = nearest(name, STATIC_STRATEGIES)
    raise UsageError(f"unknown strategy {name!r} for static allocation; {hint}")


def static_solver(text: str) -> StaticSolver:
    """The strategy that a text names, with options such as ``packing(most_buffers=9)``.

    Raises:
        UsageError: There is no such strategy or option.
    """
    name, parenthesis, _ = static_text(text).partition("(")
    factory = load_static(name.strip())
    if not parenthesis:
        return factory()
    config, _ = configure(name.strip(), factory, parse_single(text)[1])
    return factory(config=config)
