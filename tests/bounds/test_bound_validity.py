"""No valid map beats a bound, whoever found it, and bounds behave as maps do."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_problems import Sizes, small_problem
from strategies import memory_maps, problems

from hybridalloc.baselines.annealing import Annealing
from hybridalloc.baselines.brute_force import BruteForce, BruteForceConfig
from hybridalloc.baselines.greedy import Greedy
from hybridalloc.baselines.random import Random
from hybridalloc.bounds import Bound, lower_bound
from hybridalloc.checker import check
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Instruction, Program
from hybridalloc.simulator import simulate
from hybridalloc.solver import Run, Solver

ROUNDING = 1e-12
"""Of a simulated time."""


def bounded(given_problem: Problem) -> Bound:
    """The bound, in more time than it needs."""
    return lower_bound(given_problem, time_limit=10.0)


def assert_not_beaten(given_problem: Problem, memory_map: MemoryMap) -> None:
    assert check(given_problem, memory_map) == ()
    seconds = simulate(given_problem, memory_map).time_s
    bound = bounded(given_problem).seconds
    assert bound <= seconds * (1 + ROUNDING), (bound, seconds)


@given(st.data(), problems())
@settings(max_examples=30)
def test_no_valid_map_beats_the_bound(data: st.DataObject, drawn: Problem) -> None:
    memory_map = data.draw(memory_maps(drawn))
    assume(check(drawn, memory_map) == ())
    assert_not_beaten(drawn, memory_map)


SOLVERS: tuple[Solver, ...] = (Random(), Greedy(), Annealing())


@given(problems(pinned=True), st.sampled_from(SOLVERS), st.integers(0, 3))
@settings(max_examples=30)
def test_no_strategy_beats_the_bound(drawn: Problem, solver: Solver, seed: int) -> None:
    found = solver.solve(drawn, Run(iterations=60, seed=seed)).map
    assume(found is not None)
    assert found is not None
    assert_not_beaten(drawn, found)


SMALL = Sizes(buffers=3, instructions=5, loops=2)


@pytest.mark.parametrize("seed", range(24))
def test_the_best_map_of_a_small_problem_does_not_beat_the_bound(seed: int) -> None:
    drawn = small_problem(seed, SMALL)
    config = BruteForceConfig(any_input=True)
    found = BruteForce(config).solve(drawn, Run(iterations=200, seed=seed)).map
    if found is None:
        return
    assert_not_beaten(drawn, found)


@given(problems(pinned=True))
@settings(max_examples=15)
def test_the_certificate_proves_the_bound(drawn: Problem) -> None:
    bound = bounded(drawn)
    proven = bound.certificate.bound()
    if proven is None:
        assert bound.seconds == math.inf
        return
    expected = float(proven) * bound.unit_s * (1 - 1e-9)
    assert bound.seconds == pytest.approx(max(0.0, expected), rel=ROUNDING)


@given(problems(pinned=True), st.integers(1, 8))
@settings(max_examples=15)
def test_more_memory_does_not_raise_the_bound(drawn: Problem, units: int) -> None:
    more = drawn.target.capacity + units * drawn.target.fast.alignment
    assert at_most(bounded(drawn.with_capacity(more)), bounded(drawn))


@given(problems(pinned=True))
@settings(max_examples=15)
def test_fewer_outputs_do_not_raise_the_bound(drawn: Problem) -> None:
    buffers = tuple(replace(x, is_output=False) for x in drawn.program.buffers)
    fewer = replace(drawn, program=replace(drawn.program, buffers=buffers))
    assert at_most(bounded(fewer), bounded(drawn))


def at_most(one: Bound, other: Bound) -> bool:
    return one.seconds <= other.seconds * (1 + 1e-6) + 1e-9


@given(st.data(), problems(pinned=True))
@settings(max_examples=15)
def test_the_order_of_buffers_does_not_change_the_bound(
    data: st.DataObject, drawn: Problem
) -> None:
    order = data.draw(st.permutations(range(len(drawn.program.buffers))))
    program = permuted(drawn.program, order)
    one, other = bounded(drawn), bounded(replace(drawn, program=program))
    assert one.seconds == pytest.approx(other.seconds, rel=1e-6, abs=1e-9)


def permuted(program: Program, order: list[int]) -> Program:
    """The same program with buffer ``order[i]`` in place ``i``."""
    place = {buffer: i for i, buffer in enumerate(order)}

    def moved(step: Instruction) -> Instruction:
        accesses = [replace(x, buffer=place[x.buffer]) for x in step.accesses]
        seen = [
            replace(x, fast=tuple(sorted(place[b] for b in x.fast)))
            for x in step.observations
        ]
        return replace(step, accesses=tuple(accesses), observations=tuple(seen))

    buffers = tuple(program.buffers[buffer] for buffer in order)
    steps = tuple(map(moved, program.instructions))
    return Program(program.name, steps, buffers, program.loops)
