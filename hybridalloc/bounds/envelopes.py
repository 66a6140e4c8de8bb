"""Envelope cuts: what an instruction takes, from below, as tightly as can be linear.

The faces of ``elapsed`` are right where every access is wholly fast or slow, and below
that in between. For each instruction and solution, the highest linear function that is
nowhere above ``Elapsed`` where it counts is found by a linear program: one row for each
choice of accesses; those of all instructions make one program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.sparse import csr_matrix

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.linear_program import LinearProgram, Row
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.relaxation import Relaxation
from hybridalloc.cost_model import elapsed

MOST_ACCESSES = 8
"""Instructions with more accesses that may be fast have none: rows double with each."""
_LEAST_VIOLATION = 1e-5
_ROUNDING = 2.0**-32
"""Cuts are lowered by this share, so that rounding makes none of them wrong."""
_GRID = 2.0**40
_STEEPEST = 1e3
"""No face is steeper, in the greatest time of an instruction for one access."""


@dataclass(frozen=True, slots=True)
class _Choices:
    """Every choice of accesses of one instruction, and what it takes with each."""

    column: int
    """That of what the instruction takes."""
    columns: Ints
    """(accesses,)"""
    fast: Floats
    """(choices, accesses): 1 where fast."""
    entries: csr_matrix
    """(choices, 1 + accesses): the same after a column of ones."""
    times: Floats
    """(choices,), as shares of the greatest."""
    unit: float
    """The greatest."""


class Envelopes:
    """The envelopes of a relaxation's instructions."""

    def __init__(self, relaxation: Relaxation) -> None:
        """No instruction is looked at before a solution makes one interesting."""
        self._relaxation = relaxation
        self._accesses = [
            [x.buffer for x in i.accesses if (t, x.buffer) in relaxation.served]
            for t, i in enumerate(relaxation.problem.program.instructions)
        ]
        self._columns = [
            np.array([relaxation.served[t, b] for b in buffers], dtype=np.int64)
            for t, buffers in enumerate(self._accesses)
        ]
        self._choices: dict[int, _Choices] = {}

    def separate(self, values: Floats, deadline: float) -> Iterator[Row]:
        """The cuts that a solution violates, at most one for each instruction.

        Args:
            values: (columns,): the solution.
            deadline: When to be done, in seconds of ``time.monotonic()``.
        """
        split = [self._choices_of(t) for t in self._fractional(values)]
        if not split:
            return
        found = LinearSolver(_highest_faces(split, values)).solve(deadline)
        if not found.optimal:
            return
        first = 0
        for choices in split:
            last = first + 1 + choices.columns.size
            cut = _cut(choices, found.values[first:last])
            first = last
            if cut.values @ values[cut.columns] < cut.low - _LEAST_VIOLATION:
                yield cut

    def _fractional(self, values: Floats) -> Iterator[int]:
        for t, columns in enumerate(self._columns):
            if 0 < columns.size <= MOST_ACCESSES:
                fast = values[columns]
                if (np.abs(fast - np.rint(fast)) > _LEAST_VIOLATION).any():
                    yield t

    def _choices_of(self, t: int) -> _Choices:
        if t not in self._choices:
            self._choices[t] = self._choose(t)
        return self._choices[t]

    def _choose(self, t: int) -> _Choices:
        relaxation, buffers = self._relaxation, self._accesses[t]
        fast = np.array(list(product((0.0, 1.0), repeat=len(buffers))))
        sets = [{b for b, x in zip(buffers, row, strict=True) if x} for row in fast]
        times = [elapsed(relaxation.problem, t, chosen) for chosen in sets]
        unit = max(times) or 1.0
        return _Choices(
            column=int(relaxation.elapsed[t]),
            columns=self._columns[t],
            fast=fast,
            entries=csr_matrix(np.hstack([np.ones((len(fast), 1)), fast])),
            times=np.array(times) / unit,
            unit=unit * float(relaxation.runs[t]),
        )


def _highest_faces(split: list[_Choices], values: Floats) -> LinearProgram:
    """For each instruction the face under its times that is highest at a solution.

    Rows are ``constant + slopes @ fast <= times``, one for each choice; columns are
    each instruction's constant, then its slopes.
    """
    at = [np.append(1.0, values[choices.columns]) for choices in split]
    first = np.cumsum([0, *(x.size for x in at[:-1])])
    before = np.cumsum([0, *(choices.entries.nnz for choices in split)])
    starts = [c.entries.indptr[:-1] + n for c, n in zip(split, before, strict=False)]
    columns = [c.entries.indices + n for c, n in zip(split, first, strict=True)]
    times = np.concatenate([choices.times for choices in split])
    cost = -np.concatenate(at)
    matrix = csr_matrix(
        (
            np.ones(before[-1]),
            np.concatenate(columns),
            np.concatenate([*starts, before[-1:]]),
        ),
        shape=(times.size, cost.size),
    )
    return LinearProgram(
        cost=cost,
        low=np.full(cost.size, -_STEEPEST),
        high=np.full(cost.size, _STEEPEST),
        row_low=np.full(times.size, -math.inf),
        row_high=times,
        matrix=matrix,
        binary=np.zeros(0, dtype=np.int64),
    )


def _cut(choices: _Choices, face: Floats) -> Row:
    """The face as a row, on a grid of numbers, and nowhere above what it is under."""
    slopes = np.floor(face[1:] * choices.unit * _GRID) / _GRID
    room = choices.times * choices.unit - choices.fast @ slopes
    low = float(room.min())
    low = math.floor((low - _ROUNDING * choices.unit) * _GRID) / _GRID
    return Row(
        np.append(choices.column, choices.columns), np.append(1.0, -slopes), low=low
    )
