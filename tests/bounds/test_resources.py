"""Fast memory and idle time in blocks, against the same without any."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hybridalloc.bounds.halving import Halving
from hybridalloc.bounds.linear_program import Builder
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.resources import FastMemory, IdleTime

COUNTS = st.integers(1, 12)
IDLE = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0])


@st.composite
def windows(draw: st.DrawFn, count: int) -> tuple[int, int]:
    low = draw(st.integers(0, count))
    return low, draw(st.integers(low, count))


@given(st.data(), COUNTS)
@settings(max_examples=30)
def test_stays_fit_in_blocks_if_they_fit_at_every_instruction(
    data: st.DataObject, count: int
) -> None:
    free = data.draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    stays = data.draw(st.lists(st.tuples(windows(count), st.integers(0, 4))))
    builder = Builder()
    memory = FastMemory(builder, Halving(count), np.array(free))
    held = np.zeros(count)
    for (low, high), amount in stays:
        memory.hold(builder.column(low=1.0), float(amount), low, high)
        held[low:high] += amount
    solution = LinearSolver(builder.build()).solve(math.inf)
    assert solution.optimal == bool((held <= free).all())


def blocks_done(
    idle_s: list[float], copies: list[tuple[tuple[int, int], float]], forward: bool
) -> float:
    """The most copying that the rows of blocks allow."""
    builder, tree = Builder(), Halving(len(idle_s))
    rows = [builder.row(high=x) for x in idle_s]
    idle = IdleTime(builder, tree, rows, np.array(idle_s))
    for (low, high), work in copies:
        whole = builder.row(high=work)
        cells = idle.cells(low, high, work, forward=forward)
        covered = sorted(t for block in cells for t in range(*idle.span(block)))
        assert covered == list(range(low, high))
        for block in cells:
            part = builder.column(high=work, cost=-1.0)
            builder.add(whole, part, 1.0)
            builder.add(idle.rows[block], part, 1.0)
    program = builder.build()
    return -float(program.cost @ LinearSolver(program).solve(math.inf).values)


def done(idle_s: list[float], copies: list[tuple[tuple[int, int], float]]) -> float:
    """The most copying that single instructions leave time for."""
    parts = [(copy, t) for copy, (span, _) in enumerate(copies) for t in range(*span)]
    if not parts:
        return 0.0
    rows = [[float(t == other) for _, other in parts] for t in range(len(idle_s))]
    rows += [[float(c == other) for other, _ in parts] for c in range(len(copies))]
    most = [*idle_s, *(work for _, work in copies)]
    return -float(linprog(-np.ones(len(parts)), A_ub=rows, b_ub=most).fun)


@given(st.data(), COUNTS, st.booleans())
@settings(max_examples=30)
def test_blocks_allow_as_much_copying_as_their_instructions(
    data: st.DataObject, count: int, forward: bool
) -> None:
    idle_s = data.draw(st.lists(IDLE, min_size=count, max_size=count))
    works = st.sampled_from([1.0, 3.0, 8.0])
    copies = data.draw(st.lists(st.tuples(windows(count), works), max_size=4))
    expected = pytest.approx(done(idle_s, copies), abs=1e-6)
    assert blocks_done(idle_s, copies, forward) == expected


@pytest.mark.parametrize(
    ("forward", "spans"),
    [
        # With work for one instruction: near is fine, far is coarse.
        (False, [(0, 4), (4, 6), (6, 7), (7, 8)]),
        (True, [(0, 1), (1, 2), (2, 4), (4, 8)]),
    ],
)
def test_blocks_are_small_at_one_end(
    forward: bool, spans: list[tuple[int, int]]
) -> None:
    builder, tree = Builder(), Halving(8)
    rows = [builder.row(high=1.0) for _ in range(8)]
    idle = IdleTime(builder, tree, rows, np.ones(8))
    cells = idle.cells(0, 8, 1.0, forward=forward)
    assert sorted(idle.span(block) for block in cells) == spans
