"""Options of strategies, which are the fields of their configs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc import Outcome, Problem, Run, UsageError
from hybridalloc import registry as registry_module
from hybridalloc.baselines.greedy import Greedy
from hybridalloc.compose import Strategy, parse
from hybridalloc.compose.options import configure, options_of
from hybridalloc.registry import Entry
from hybridalloc.solver import UNANSWERED


class Order(StrEnum):
    FIRST_FIT = "first-fit"
    BEST_FIT = "best-fit"


@dataclass(frozen=True)
class Config:
    """What a strategy of these tests takes."""

    steps: int = 10
    """How many steps
    to take."""
    heat: float = 1.5
    careful: bool = False
    order: Order = Order.BEST_FIT
    limit: int | None = None
    label: str | None = "plain"
    mode: Literal["fast", "slow"] = "fast"
    weights: tuple[float, ...] = (1.0,)
    """More than one value."""
    state: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise ValueError(f"steps {self.steps} is negative")


class Configured:
    """Takes a config."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return UNANSWERED


@dataclass
class Fielded:
    """Takes one as a field."""

    config: Config = Config()


class Bare:
    """Takes none."""


class Lost:
    """Names a type that does not exist."""

    def __init__(self, config: Missing | None = None) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategy of these tests is known as ``configured``."""
    entry = Entry(f"{__name__}:Configured", "for tests")
    entries = {**registry_module.STRATEGIES, "configured": entry}
    monkeypatch.setattr(registry_module, "STRATEGIES", entries)


def config_of(text: str) -> Config:
    """The config of a configured strategy."""
    strategy = parse(text)
    assert isinstance(strategy, Strategy)
    assert isinstance(strategy.solver, Configured)
    return strategy.solver.config


def test_options_are_the_fields_of_one_value() -> None:
    options = options_of(Configured)
    assert list(options) == [
        *("steps", "heat", "careful", "order", "limit", "label", "mode")
    ]
    assert options == options_of(Fielded)
    assert [option.choice for option in options.values()] == [
        "int",
        "float",
        "true or false",
        "first-fit or best-fit",
        "int or none",
        "str or none",
        "fast or slow",
    ]
    assert options["steps"].default == 10
    assert options["steps"].description == "How many steps to take."
    assert options["heat"].description == ""


def test_a_strategy_without_config_has_no_options() -> None:
    assert options_of(Bare) == {}
    with pytest.raises(UsageError, match="strategy 'bare' has no options"):
        configure("bare", Bare, {"x": "1"})


def test_values_are_converted_to_the_types_of_the_fields() -> None:
    config = config_of(
        "configured(steps=3,heat=1e3,careful=true,order=first-fit,limit=none,"
        'label="a, b",mode=slow)'
    )
    assert config == Config(3, 1000.0, True, Order.FIRST_FIT, None, "a, b", mode="slow")
    assert config_of("configured(limit=5)").limit == 5
    assert config_of("configured(label=None)").label is None
    assert config_of('configured(label="none")').label == "none"
    assert config_of("configured").label == "plain"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("step=3", "'configured' has no option 'step'; did you mean 'steps'"),
        ("xyz=3", "no option 'xyz'; known: steps, heat, careful"),
        ("weights=3", "no option 'weights'"),
        ("state=3", "no option 'state'"),
        ("steps=1.5", "option 'steps' of strategy 'configured': expected int, got 1.5"),
        ("steps=none", "expected int, got none"),
        ("limit=x", "expected int or none, got x"),
        ("heat=hot", "expected float, got hot"),
        ("heat=nan", "expected float, got nan"),
        ("careful=2", "expected true or false, got 2"),
        ("order=worst-fit", "expected first-fit or best-fit, got worst-fit"),
        ("mode=x", "expected fast or slow, got x"),
        ('label="\\x"', r'expected str or none, got "\\x"'),
        ("steps=-1", "options of strategy 'configured': steps -1 is negative"),
    ],
)
def test_an_option_that_cannot_be_met_is_refused(options: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(f"configured({options})")


def test_annotations_that_cannot_be_told_are_an_error() -> None:
    with pytest.raises(UsageError, match="'Missing' is not defined"):
        options_of(Lost)


def test_options_have_an_effect() -> None:
    strategy = Strategy.named("greedy", {"displacements": "7"})
    assert isinstance(strategy.solver, Greedy)
    assert strategy.solver.config.displacements == 7


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "steps": st.integers(0),
            "heat": st.floats(allow_nan=False),
            "careful": st.booleans(),
            "order": st.sampled_from(Order),
            "limit": st.none() | st.integers(),
            "label": st.none() | st.text(),
        },
    )
)
def test_options_are_read_back_from_their_text(values: dict[str, object]) -> None:
    strategy = Strategy("configured", tuple(values.items()), solver=Configured())
    read = parse(str(strategy))
    assert isinstance(read, Strategy)
    assert dict(read.options) == values
    assert str(parse(str(read))) == str(read)
