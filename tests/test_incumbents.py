"""What becomes of the maps that a search is offered, and when they are checked."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from named_problems import CHAIN, FASTER, FASTEST, INVALID, SLOW

import hybridalloc.checker
import hybridalloc.incumbents
from hybridalloc import (
    Allocation,
    MemoryMap,
    Origin,
    Outcome,
    Problem,
    Run,
    Status,
    StrategyError,
    UsageError,
    solve,
)
from hybridalloc.checker import Violation, check
from hybridalloc.incumbents import Incumbents
from hybridalloc.simulator import Simulator

INPUT = MemoryMap((Allocation(0, 0, 0, 3, Origin.CROSS_PROGRAM),))
"""42 s: w is read from fast memory, which saves 6."""


class Clock:
    """Stands for the clock and the checker: each check takes as long as it is told."""

    def __init__(self) -> None:
        self.now = 100.0
        self.check_s = 1.0
        self.checked: list[MemoryMap] = []
        self.interruptions = 0
        """How many of the next checks Ctrl-C meets."""

    def check(self, problem: Problem, memory_map: MemoryMap) -> tuple[Violation, ...]:
        self.checked.append(memory_map)
        if self.interruptions:
            self.interruptions -= 1
            raise KeyboardInterrupt
        self.now += self.check_s
        return check(problem, memory_map)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    fake = SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr(hybridalloc.incumbents, "time", fake)
    monkeypatch.setattr(hybridalloc.checker, "check", clock.check)
    return clock


def search(time_limit: float) -> Incumbents:
    return Incumbents(Simulator(CHAIN), "s", time_limit)


def maps(incumbents: Incumbents) -> list[MemoryMap]:
    return [incumbent.map for incumbent in incumbents.history]


def test_only_better_maps_are_checked(clock: Clock) -> None:
    incumbents = search(math.inf)
    for memory_map in (FASTER, SLOW, INVALID, FASTER, FASTEST):
        incumbents.offer(memory_map)
    assert maps(incumbents) == clock.checked == [FASTER, FASTEST]


def test_what_is_handed_back_at_the_end_is_checked_even_if_it_is_no_better(
    clock: Clock,
) -> None:
    incumbents = search(math.inf)
    incumbents.offer(FASTER)
    with pytest.raises(StrategyError, match="s handed back an invalid map"):
        incumbents.conclude(Outcome(INVALID))


def test_a_map_is_dropped_that_cannot_be_checked_in_time(clock: Clock) -> None:
    """A check of the empty map takes a second: 1 + 3 units of work, of 0.25 s each.

    For one of one allocation, 16 units, 4 s are expected. The answer is due 1 s after
    the limit, at 111 s.
    """
    incumbents = search(10.0)
    incumbents.offer(SLOW)
    assert clock.now == 101
    clock.now = 108
    incumbents.offer(FASTER)
    assert maps(incumbents) == [SLOW]
    clock.now = 107
    incumbents.offer(FASTER)
    assert maps(incumbents) == [SLOW, FASTER]


def test_a_quick_check_is_done_however_late_it_is(clock: Clock) -> None:
    """A check of the empty map takes 10 ms, so 40 ms are expected."""
    incumbents = search(10.0)
    clock.check_s = 0.01
    incumbents.offer(SLOW)
    clock.now = 200
    incumbents.offer(FASTER)
    assert maps(incumbents) == [SLOW, FASTER]


def test_without_any_map_one_is_checked_however_late_it_is(clock: Clock) -> None:
    incumbents = search(10.0)
    clock.now = 200
    incumbents.offer(FASTER)
    assert maps(incumbents) == [FASTER]


def test_a_tenth_of_a_long_time_limit_may_be_added_to_it(clock: Clock) -> None:
    """4 s of checks, and the answer due at 100 + 50 + 5 = 155 s."""
    incumbents = search(50.0)
    incumbents.offer(SLOW)
    clock.now = 151
    incumbents.offer(FASTER)
    assert maps(incumbents) == [SLOW, FASTER]


@pytest.mark.parametrize("status", [Status.OPTIMAL, Status.FEASIBLE])
def test_nothing_is_claimed_of_a_map_that_came_too_late(
    clock: Clock, status: Status
) -> None:
    incumbents = search(10.0)
    incumbents.offer(SLOW)
    clock.now = 120
    concluded = incumbents.conclude(Outcome(FASTER, status, bound=20.0))
    assert concluded == Outcome(None, Status.UNKNOWN, bound=20.0)


def test_better_maps_wait_where_checks_would_take_up_much_of_the_search(
    clock: Clock,
) -> None:
    """After two checks, 2 s > 1 s + 10 % of 2 s: the next waits; not so at 130 s."""
    incumbents = search(1000.0)
    for memory_map in (SLOW, INPUT, FASTER, INPUT):
        incumbents.offer(memory_map)
    assert maps(incumbents) == [SLOW, INPUT]
    clock.now = 130
    incumbents.offer(FASTEST)
    assert maps(incumbents) == clock.checked == [SLOW, INPUT, FASTEST]


def test_a_map_that_waits_is_checked_at_the_end(clock: Clock) -> None:
    incumbents = search(1000.0)
    for memory_map in (SLOW, INPUT, FASTER):
        incumbents.offer(memory_map)
    incumbents.conclude(Outcome(INPUT))
    assert maps(incumbents) == [SLOW, INPUT, FASTER]


def test_no_map_waits_that_could_not_be_checked_at_the_end(clock: Clock) -> None:
    """The longest grace is 1 s, and 4 s of checks are expected."""
    incumbents = search(10.0)
    for memory_map in (SLOW, INPUT, FASTER):
        incumbents.offer(memory_map)
    assert maps(incumbents) == [SLOW, INPUT, FASTER]


def interrupted_while_checking(clock: Clock, times: int) -> MemoryMap | None:
    """The answer where Ctrl-C meets that many checks of the second report."""

    class Reports:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            run.report(SLOW)
            clock.interruptions = times
            run.report(FASTER)
            raise AssertionError("Ctrl-C had no effect")

    return solve(CHAIN, Reports()).map


def test_ctrl_c_during_a_check_loses_no_map(clock: Clock) -> None:
    assert interrupted_while_checking(clock, times=1) == FASTER


def test_a_second_ctrl_c_keeps_the_map_before(clock: Clock) -> None:
    assert interrupted_while_checking(clock, times=2) == SLOW


def test_ctrl_c_during_the_check_of_a_warm_start_keeps_it(clock: Clock) -> None:
    clock.interruptions = 1
    assert solve(CHAIN, "slow", warm_start=FASTER).map == FASTER
    clock.interruptions = 1
    with pytest.raises(UsageError, match="the warm start is not a valid map"):
        solve(CHAIN, "slow", warm_start=INVALID)


def test_a_map_is_the_work_of_the_innermost_component_at_the_time() -> None:
    incumbents = search(math.inf)
    with incumbents.credit("outer"):
        with incumbents.credit("inner"):
            incumbents.offer(SLOW)
        incumbents.offer(FASTER)
    incumbents.offer(FASTEST)
    found = [incumbent.found_by for incumbent in incumbents.history]
    assert found == ["inner", "outer", "s"]
