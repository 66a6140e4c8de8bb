from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from static_problems import exists, small_problems

from hybridalloc.baselines.static.branch_and_bound.descent import Descent, keys_of
from hybridalloc.baselines.static.branch_and_bound.sections import sections_of
from hybridalloc.baselines.static.branch_and_bound.solver import ORDERS, BranchAndBound
from hybridalloc.baselines.static.branch_and_bound.tree import FAILED, GOING_ON
from hybridalloc.solver import Run
from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem
from hybridalloc.static.proofs import refute
from hybridalloc.static.solver import UNDECIDED
from hybridalloc.static.units import units_for


def random_problem(count: int, seed: int) -> StaticProblem:
    generator = np.random.default_rng(seed)
    starts = generator.integers(0, 40, count).tolist()
    lives = generator.integers(1, 20, count).tolist()
    sizes = generator.integers(1, 30, count).tolist()
    buffers = tuple(
        StaticBuffer(f"b{i}", size, start, start + life)
        for i, (size, start, life) in enumerate(zip(sizes, starts, lives, strict=True))
    )
    return StaticProblem("random", buffers)


def descent_of(problem: StaticProblem, order: str = "TAW") -> Descent:
    units = units_for(problem)
    sections = sections_of(problem, units)
    return Descent(sections, keys_of(problem.buffers, sections.sizes, order))


def test_a_section_is_over_where_something_ends_after_something_has_begun() -> None:
    lives = [(0, 3), (1, 5), (3, 5), (5, 6)]
    buffers = tuple(StaticBuffer(f"b{i}", 1, *life) for i, life in enumerate(lives))
    problem = StaticProblem("p", buffers, 9)
    sections = sections_of(problem, units_for(problem))
    members = np.split(sections.members, sections.first_member[1:-1])
    assert [x.tolist() for x in members] == [[0, 1], [1, 2], [3]]
    neighbours = np.split(sections.neighbours, sections.first_neighbour[1:-1])
    assert [x.tolist() for x in neighbours] == [[1], [0, 2], [1], []]


def test_buffers_that_are_live_in_each_other_s_gaps_are_no_neighbours() -> None:
    a = StaticBuffer("a", 8, 0, 9, gaps=(Gap(3, 6),))
    b = StaticBuffer("b", 8, 3, 6)
    problem = StaticProblem("p", (a, b), 8)
    sections = sections_of(problem, units_for(problem))
    assert sections.neighbours.tolist() == []


@given(problem=small_problems(most=6, windows=False))
@settings(max_examples=200, deadline=None)
def test_every_order_comes_to_the_same(problem: StaticProblem) -> None:
    problem = replace(problem, reserved=())
    live = tuple(x for x in problem.buffers if x.rectangles)
    problem = replace(problem, buffers=live)
    if not live or refute(problem) is not None:
        return
    for order in ORDERS:
        descent = descent_of(problem, order)
        while not descent.is_done:
            descent.go_on(1)
        assert (descent.status != FAILED) == exists(problem)


@pytest.mark.parametrize("nodes", [1, 7])
def test_a_search_that_stops_and_goes_on_finds_the_same(nodes: int) -> None:
    problem = random_problem(30, 1)
    problem = replace(problem, capacity=problem.room)
    whole, parts = descent_of(problem), descent_of(problem)
    whole.go_on(10**6)
    while not parts.is_done:
        parts.go_on(nodes)
    assert whole.status == parts.status != GOING_ON
    assert whole.offsets is not None
    assert parts.offsets is not None
    assert whole.offsets.tolist() == parts.offsets.tolist()


def test_the_same_seed_and_one_worker_give_the_same_offsets() -> None:
    problem = replace(random_problem(60, 2), capacity=400)
    one, other = (BranchAndBound().solve(problem, Run(seed=5)) for _ in "ab")
    assert one == other


def test_windows_are_left_to_others() -> None:
    buffer = StaticBuffer("a", 8, 0, 9, gaps=(Gap(3, 6, (0, 2)),))
    problem = StaticProblem("p", (buffer,), 8)
    assert BranchAndBound().solve(problem, Run()) == UNDECIDED


def test_the_deadline_is_kept() -> None:
    problem = random_problem(400, 3)
    load = max(
        sum(x.size for x in problem.buffers if x.start <= t < x.end) for t in range(60)
    )
    started = time.monotonic()
    run = Run(deadline=started + 0.5, workers=2)
    BranchAndBound().solve(replace(problem, capacity=load), run)
    assert time.monotonic() < started + 10
