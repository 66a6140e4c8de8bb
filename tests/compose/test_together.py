"""Solvers side by side."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import dataclass

import pytest
from named_problems import CHAIN, FASTER, FASTEST, SLOW

from hybridalloc import MemoryMap, Outcome, Problem, Run, Status, Together, solve
from hybridalloc.errors import StrategyError
from hybridalloc.memory_map import Allocation
from hybridalloc.solver import UNANSWERED

PATIENCE_S = 30.0


@dataclass
class Waits:
    """Reports a map, then waits until it is told to end."""

    map: MemoryMap
    ended: bool = False

    def solve(self, problem: Problem, run: Run) -> Outcome:
        run.report(self.map)
        while not run.expired:
            time.sleep(0.001)
        self.ended = True
        return Outcome(self.map)

    def __str__(self) -> str:
        return "waits"


@dataclass
class Meets:
    """Hands back a map once others are at work at the same time."""

    barrier: threading.Barrier
    outcome: Outcome

    def solve(self, problem: Problem, run: Run) -> Outcome:
        self.barrier.wait(PATIENCE_S)
        return self.outcome


class Presses:
    """Presses Ctrl-C."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("Ctrl-C had no effect")


class Fails:
    """Has a fault."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(MemoryMap((Allocation(0, 0, 0, 1),) * 2))


def test_members_work_at_the_same_time_and_the_best_map_answers() -> None:
    barrier = threading.Barrier(2)
    one, other = (Meets(barrier, Outcome(x)) for x in (FASTER, FASTEST))
    result = solve(CHAIN, Together(one, other), workers=2)
    assert result.map == FASTEST


def test_with_fewer_workers_than_members_they_take_turns() -> None:
    barrier = threading.Barrier(1)
    one, other = (Meets(barrier, Outcome(x)) for x in (FASTEST, SLOW))
    assert solve(CHAIN, Together(one, other), workers=1).map == FASTEST


def test_a_proof_of_one_ends_all() -> None:
    waits, barrier = Waits(SLOW), threading.Barrier(1)
    proves = Meets(barrier, Outcome(FASTEST, Status.OPTIMAL, bound=1e-3))
    result = solve(CHAIN, Together(proves, waits), workers=2, time_limit=PATIENCE_S)
    assert (result.status, waits.ended) == (Status.OPTIMAL, True)


def test_maps_are_credited_to_the_member_that_found_them() -> None:
    nothing = Meets(threading.Barrier(1), UNANSWERED)
    result = solve(CHAIN, Together(nothing, Waits(FASTEST)), workers=2, time_limit=0.2)
    assert [x.found_by for x in result.history] == ["waits"]


def test_ctrl_c_ends_all_and_loses_nothing() -> None:
    waits = Waits(FASTER)
    strategy = Together(Presses(), waits)
    result = solve(CHAIN, strategy, workers=2, time_limit=PATIENCE_S)
    assert waits.ended
    assert result.map in (FASTER, None)  # it may come before the first report


def test_an_error_of_one_is_an_error_of_all() -> None:
    waits = Waits(SLOW)
    with pytest.raises(StrategyError, match="Fails"):
        solve(CHAIN, Together(waits, Fails()), workers=2, time_limit=PATIENCE_S)
    assert waits.ended
