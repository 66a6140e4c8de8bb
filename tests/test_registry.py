"""The registry: strategies by name."""

from __future__ import annotations

import pytest
from named_problems import NAMED

from hybridalloc import Run, Status, UsageError, registry, solve
from hybridalloc.compose import parse
from hybridalloc.registry import STRATEGIES, Entry, get_solver, load

PIPELINE = Entry(composition="slow@5s>greedy", description="two of them")


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_is_where_the_table_says_and_has_a_line_of_its_own(
    name: str,
) -> None:
    assert callable(get_solver(name).solve)
    line = STRATEGIES[name].description
    assert line
    assert "\n" not in line


def test_a_strategy_is_a_solver() -> None:
    outcome = get_solver("slow").solve(NAMED["a chain"], Run())
    assert outcome.status is Status.FEASIBLE


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a strategy that is a composition."""
    entries = {**STRATEGIES, "pipeline": PIPELINE}
    monkeypatch.setattr(registry, "STRATEGIES", entries)
    return "pipeline"


def test_a_name_may_stand_for_a_composition(pipeline: str) -> None:
    assert get_solver(pipeline) == parse("slow@5s>greedy")
    assert str(parse(f"best({pipeline},slow)")) == "best(pipeline,slow)"
    with pytest.raises(ValueError, match="either a location or a composition"):
        Entry("module:Class", composition="slow")


def test_a_composition_by_name_finds_what_its_text_finds(pipeline: str) -> None:
    named, written = (
        solve(NAMED["more than fits"], each, iterations=5)
        for each in (pipeline, PIPELINE.composition)
    )
    assert (named.map, named.strategy) == (written.map, "pipeline")
    finders = [incumbent.found_by for incumbent in named.history]
    assert finders == ["slow", *["greedy"] * (len(finders) - 1)]
    assert len(finders) > 1


def test_a_composition_by_name_has_no_options(pipeline: str) -> None:
    message = "'pipeline' has no options of its own; .* belong: slow@5s>greedy"
    with pytest.raises(UsageError, match=message):
        parse(f"{pipeline}(displacements=1)")
    with pytest.raises(UsageError, match=message):
        get_solver(pipeline, config=None)
    with pytest.raises(UsageError, match=message):
        load(pipeline)


@pytest.mark.parametrize(
    "name", [name for name, entry in STRATEGIES.items() if entry.composition]
)
def test_our_compositions_are_of_names_that_exist_and_print_as_written(
    name: str,
) -> None:
    assert str(get_solver(name)) == STRATEGIES[name].composition


def test_a_misspelt_strategy_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="'greddy'; did you mean 'greedy'"):
        get_solver("greddy")


def test_a_name_unlike_any_gets_the_list() -> None:
    with pytest.raises(UsageError, match="known: slow, replay, random, random-play"):
        get_solver("zzz")


def test_a_name_unlike_any_may_be_meant_for_a_class() -> None:
    with pytest.raises(UsageError, match="a class of your own has a name by an entry"):
        parse("mine/heur.py:Area")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("best", "'best' composes strategies; expected as in best"),
        ("greedy>slow", "expected the name of one strategy"),
    ],
)
def test_what_is_no_strategy_says_what_it_is(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        get_solver(text)
