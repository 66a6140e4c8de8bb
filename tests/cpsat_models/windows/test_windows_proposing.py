"""Proposals: where in a program windows are worth solving."""

from __future__ import annotations

import time

import numpy as np
import pytest
from named_problems import NAMED, W, X, reads, writes
from named_problems import problem as problem_of

from hybridalloc import MemoryMap, Problem, Run, solve
from hybridalloc.arrays import Floats
from hybridalloc.bounds import relaxed_serving
from hybridalloc.compose import parse
from hybridalloc.cpsat_models.windows import Windows
from hybridalloc.cpsat_models.windows.choice import mixed
from hybridalloc.cpsat_models.windows.proposing import Disagreement, disagreement
from hybridalloc.memory_map import Allocation
from hybridalloc.program import Loop

THREE_READS = problem_of((W,), (reads(0),), (reads(0),), (reads(0),))
"""Each takes 8 s from slow memory and 2 s from fast memory."""


def test_an_access_counts_by_what_it_saves_as_far_as_it_is_served_otherwise() -> None:
    serving = {(0, 0): 1.0, (1, 0): 0.5}
    found = disagreement(THREE_READS, MemoryMap(), serving)
    assert found.tolist() == [6, 3, 0]


def test_what_the_map_alone_serves_counts_too() -> None:
    held = MemoryMap((Allocation(1, 0, 0, 2),))
    chain = problem_of((W, X), (reads(0), writes(1)), (reads(1),))
    assert disagreement(chain, held, {(1, 1): 1.0}).tolist() == [6, 0]


def test_an_access_within_a_loop_counts_as_often_as_it_runs() -> None:
    loops = (Loop(1, 2, trip_count=5),)
    looped = problem_of((W,), (reads(0),), (reads(0),), loops=loops)
    found = disagreement(looped, MemoryMap(), {(0, 0): 1.0, (1, 0): 1.0})
    assert found.tolist() == [6, 30]


def test_the_relaxation_serves_a_chain_from_fast_memory() -> None:
    serving = relaxed_serving(NAMED["a chain"], float("inf"))
    assert serving[1, 1] == pytest.approx(1)


def test_without_time_nothing_is_proposed() -> None:
    assert relaxed_serving(THREE_READS, time.monotonic()) == {}
    run = Run(deadline=time.monotonic())
    assert not Disagreement()(THREE_READS, MemoryMap(), run).any()


def test_half_of_the_draw_is_by_loss_and_half_as_proposed() -> None:
    lost, proposed = np.array([2.0, 2.0, 0.0]), np.array([0.0, 3.0, 9.0])
    assert mixed(lost, proposed).tolist() == [0.5, 0.75, 0.75]


def test_no_proposal_leaves_the_loss_and_no_loss_leaves_nothing() -> None:
    lost, nothing = np.array([2.0, 1.0]), np.zeros(2)
    assert mixed(lost, nothing) is lost
    assert not mixed(nothing, lost).any()


def test_a_proposer_is_asked_of_the_map_that_is_to_be_improved() -> None:
    asked = []

    def proposer(problem: Problem, memory_map: MemoryMap, run: Run) -> Floats:
        asked.append((problem, memory_map, run.seed))
        return np.ones(len(problem.program))

    start = MemoryMap()
    run = Run(iterations=5, seed=3, warm_start=start)
    Windows(proposer=proposer).solve(THREE_READS, run)
    assert asked == [(THREE_READS, start, 3)]


def test_windows_that_the_relaxation_proposes_find_what_is_best() -> None:
    # 8 + 3 * 2 s, as by loss alone.
    result = solve(THREE_READS, parse("windows(propose=relaxation)"), iterations=20)
    assert result.time == pytest.approx(14)


@pytest.mark.parametrize("name", list(NAMED))
def test_the_same_seed_gives_the_same_map(name: str) -> None:
    strategy = parse("windows(propose=relaxation)")
    one, two = (solve(NAMED[name], strategy, iterations=4, seed=5) for _ in range(2))
    assert one.map == two.map
