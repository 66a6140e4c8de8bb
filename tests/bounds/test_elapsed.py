"""Faces against the cost model, for every choice of accesses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from strategies import problems

from hybridalloc.bounds.elapsed import faces, observed
from hybridalloc.bounds.linear_program import Builder
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.running import Running
from hybridalloc.bounds.space import free_units
from hybridalloc.cost_model import Costs, compile_costs, elapsed, idle
from hybridalloc.problem import CostModel, Problem

ROUNDING = 1e-12


def choices(problem: Problem, t: int) -> Iterator[tuple[frozenset[int], set[int]]]:
    """Every set of accesses of an instruction, and the buffers of those."""
    accesses = problem.program.instructions[t].accesses
    first = int(compile_costs(problem).first_access[t])
    for count in range(len(accesses) + 1):
        for some in combinations(range(len(accesses)), count):
            yield frozenset(first + i for i in some), {accesses[i].buffer for i in some}


def jumps(costs: Costs, t: int) -> bool:
    """Whether this is the case ``m > h`` (docs/model.md, Time)."""
    return bool(costs.floor_s[t] > costs.empty_s[t])


@given(problems(CostModel.CYCLES, max_buffers=4))
@settings(max_examples=30)
def test_no_face_is_above_elapsed_but_where_a_placement_was_observed(
    problem: Problem,
) -> None:
    costs = compile_costs(problem)
    for t in range(len(problem.program)):
        seen = {x.fast: x.seconds for x in observed(costs, t)}
        for accesses, buffers in choices(problem, t):
            seconds = elapsed(problem, t, buffers)
            if accesses in seen:
                assert seen[accesses] == pytest.approx(seconds, rel=ROUNDING)
                continue
            highest = max(face.at(accesses) for face in faces(costs, t))
            assert highest <= seconds + ROUNDING
            if not jumps(costs, t):
                assert highest >= seconds - ROUNDING


@given(problems(CostModel.ROOFLINE, max_buffers=4))
@settings(max_examples=30)
def test_the_highest_face_is_elapsed_under_roofline(problem: Problem) -> None:
    costs = compile_costs(problem)
    for t in range(len(problem.program)):
        assert not list(observed(costs, t))
        for accesses, buffers in choices(problem, t):
            highest = max(face.at(accesses) for face in faces(costs, t))
            assert highest == pytest.approx(elapsed(problem, t, buffers), abs=ROUNDING)


@given(problems(max_instructions=3, max_buffers=3))
@settings(max_examples=30)
def test_the_rows_allow_an_instruction_what_it_takes_and_no_more_than_its_idle_time(
    problem: Problem,
) -> None:
    builder = Builder()
    running = Running(builder, problem, free_units(problem) + 100, 1.0, math.inf)
    used = [builder.column(high=1e4, cost=-1e-3) for _ in running.columns]
    for row, column in zip(running.idle_rows, used, strict=True):
        builder.add(row, column, 1.0)
    solver = LinearSolver(builder.build())
    costs = compile_costs(problem)
    for t, column in enumerate(running.columns):
        runs = problem.program.multiplicity[t]
        exact = not jumps(costs, t) and not list(observed(costs, t))
        for _, buffers in choices(problem, t):
            served = {
                served_column: float(buffer in buffers)
                for (instruction, buffer), served_column in running.served.items()
                if instruction == t
            }
            chosen = {b for b in buffers if (t, b) in running.served}
            solver.fix(served)
            values = solver.solve(math.inf).values
            expected = runs * elapsed(problem, t, chosen)
            assert values[column] <= expected + 1e-6
            if exact:
                assert values[column] == pytest.approx(expected, abs=1e-6)
                idle_s = runs * idle(problem, t, chosen)
                assert values[used[t]] == pytest.approx(idle_s, abs=1e-6)
