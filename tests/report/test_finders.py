"""Who found what of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

from rich.console import Console

from hybridalloc.incumbents import WARM_START
from hybridalloc.memory_map import MemoryMap
from hybridalloc.report.finders import Finder, finders, who_found
from hybridalloc.solver import Incumbent, Result, Status

SLOW_S = 48.0


def found(*steps: tuple[float, float, str]) -> tuple[Incumbent, ...]:
    """Maps of some time, each after some seconds by a component."""
    return tuple(Incumbent(MemoryMap(), *step) for step in steps)


def answer(history: Sequence[Incumbent], *, is_warm: bool = False) -> Result:
    """That of a strategy."""
    return Result(
        strategy="a>b",
        seed=0,
        status=Status.FEASIBLE if history else Status.UNKNOWN,
        map=MemoryMap() if history else None,
        time=history[-1].time if history else None,
        bound=None,
        runtime=3.0,
        history=tuple(history),
        warm_start_used=is_warm,
        metrics=None,
    )


def lines(result: Result, whole: str = "a>b") -> list[str]:
    """What people read, without empty lines and the rule below the heads."""
    text = StringIO()
    console = Console(file=text, width=200)
    for part in who_found(result, SLOW_S, whole):
        console.print(part)
    return [x.rstrip() for x in text.getvalue().splitlines() if x.strip(" ─")]


def test_each_component_saves_what_its_maps_are_better_than_those_before() -> None:
    """From 48 s to 40, 30 and 24: a saves 8 and 6 s, b saves 10."""
    history = found((40.0, 0.25, "a"), (30.0, 1.0, "b"), (24.0, 2.5, "a"))
    assert finders(history, SLOW_S) == (
        Finder("a", 2, 14.0, 2.5),
        Finder("b", 1, 10.0, 1.0),
    )
    title, heads, a, b = lines(answer(history))
    assert title == "who found it, 24 s less than all in slow memory"
    assert heads.split()[2:] == [
        "improvements",
        "time",
        "saved",
        "share",
        "last",
        "after",
    ]
    assert a.split() == ["a", "2", "14", "s", "58.3", "%", "2.50", "s"]
    assert b.split() == ["b", "1", "10", "s", "41.7", "%", "1.00", "s"]


def test_a_warm_start_is_what_the_savings_are_counted_from() -> None:
    history = found((40.0, 0.0, WARM_START), (30.0, 1.0, "b"))
    title, _, only = lines(answer(history, is_warm=True))
    assert title == "who found it, 10 s less than the warm start"
    assert only.split() == ["b", "1", "10", "s", "100", "%", "1.00", "s"]


def test_it_is_told_that_nothing_better_than_the_warm_start_was_found() -> None:
    history = found((40.0, 0.0, WARM_START))
    told = lines(answer(history, is_warm=True))
    assert told == ["nothing better than the warm start was found"]


def test_a_first_map_that_is_slower_than_slow_memory_saves_nothing() -> None:
    history = found((50.0, 0.1, "a"), (30.0, 1.0, "b"))
    title, _, a, b = lines(answer(history))
    assert title == "who found it, 20 s less than the first map"
    assert a.split() == ["a", "1", "0", "s", "0", "%", "0.10", "s"]
    assert b.split()[-4:] == ["100", "%", "1.00", "s"]


def test_shares_are_left_out_where_two_times_count() -> None:
    """The time under the problem's own model may rise."""
    history = found((40.0, 0.0, WARM_START), (42.0, 1.0, "a"), (39.0, 2.0, "b"))
    result = replace(answer(history, is_warm=True), times_s={"roofline": 39.0})
    _, _, a, b = lines(result)
    assert a.split() == ["a", "1", "-2", "s", "-", "1.00", "s"]
    assert b.split() == ["b", "1", "3", "s", "-", "2.00", "s"]


def test_nothing_is_told_without_a_map_or_where_the_strategy_itself_found_all() -> None:
    assert lines(answer(())) == []
    assert lines(answer(found((40.0, 1.0, "a"))), whole="a") == []
