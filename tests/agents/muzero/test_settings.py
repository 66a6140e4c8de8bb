"""A training's configuration, from options."""

from __future__ import annotations

import pytest

from hybridalloc.agents.muzero.settings import configured, hurried
from hybridalloc.agents.muzero.training_config import CPU, TrainConfig
from hybridalloc.errors import UsageError


def cpu(*settings: str, imitates: bool = True, is_timed: bool = True) -> TrainConfig:
    return configured("cpu", settings, imitates=imitates, is_timed=is_timed)


def test_a_preset_is_what_there_is_without_settings() -> None:
    assert cpu() == CPU
    assert cpu(imitates=False).demonstrations is None


def test_without_a_time_no_clock_decides_anything() -> None:
    config = cpu(is_timed=False)
    assert config.bound_time_s == 0
    assert config.demonstrations is not None
    assert config.demonstrations.time_limit_s is None


def test_settings_change_parameters_by_their_path() -> None:
    config = cpu("search.simulations=4", "model=game", "learner.rate=1", "steps=7")
    assert config.search.simulations == 4
    assert config.model == "game"
    assert config.learner.rate == 1
    assert config.steps == 7


def test_settings_may_name_strategies_and_lift_limits() -> None:
    config = cpu(
        'demonstrations.strategies=["greedy", "msa"]',
        "demonstrations.time_limit_s=null",
    )
    assert config.demonstrations is not None
    assert config.demonstrations.strategies == ("greedy", "msa")
    assert config.demonstrations.time_limit_s is None


@pytest.mark.parametrize(
    "setting",
    [
        "model=none",
        "steps=0",
        "steps=1.5",
        "replay=3",
        "a.b=1",
        "search.simulations.x=1",
        "steps=null",
        "network.width=null",
        "device=null",
    ],
)
def test_what_is_not_possible_is_refused(setting: str) -> None:
    with pytest.raises(UsageError, match=f"--set '{setting}'"):
        cpu(setting)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("device=meta", "device 'meta'"),
        ('demonstrations.strategies=["greedi"]', "greedi"),
        ("demonstrations.strategies=[1]", "expected a name"),
    ],
)
def test_what_is_not_there_is_refused(setting: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cpu(setting)


def test_bounds_and_demonstrations_leave_most_of_the_time_for_learning() -> None:
    config = hurried(CPU, 60.0, 10)
    assert config.bound_time_s == pytest.approx(0.6)
    assert config.demonstrations is not None
    assert config.demonstrations.time_limit_s == pytest.approx(1.8)
    assert hurried(CPU, 1e6, 10) == CPU
