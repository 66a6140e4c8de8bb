"""A bound of the model: branch and bound over its linear part, in exact arithmetic.

What the model holds beyond its linear part only makes solutions worse, so what no
solution of the linear part beats, none of the model beats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.branching import BranchAndBound
from hybridalloc.bounds.linear_program import LinearProgram, Row
from hybridalloc.cpsat_models.mapping.linear import LinearPart

_LEAST_VIOLATION = 1e-3
_NONE = 1e-6
"""What is true to a smaller part is false."""
_WHOLE = 2.0**32
"""Weights are whole multiples of one part in this; others are no sizes."""


class Proof:
    """One search, which may end at any time: what is proven until then stands."""

    def __init__(self, part: LinearPart, deadline: float) -> None:
        """Set up the search.

        Args:
            part: The linear part of the model.
            deadline: In seconds of ``time.monotonic()``.

        Raises:
            TimeoutError: The model's deadline has passed.
        """
        self._part = part
        program = part.program(complete=False)
        self._knapsacks = _knapsacks(program)
        self._search = BranchAndBound(program, self._cuts, deadline)

    def run(self, cutoff: float) -> None:
        """Search until the bound is the optimum, or good enough, or time is up.

        Args:
            cutoff: Units; a bound this high is good enough.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        self._search.run((cutoff - self._part.offset) / self._part.cost_unit)

    @property
    def bound(self) -> float:
        """Units that no solution of the model beats; infinite if there is none."""
        bound = self._search.bound
        if bound is None:
            return math.inf
        units = bound * Fraction(self._part.cost_unit) + Fraction(self._part.offset)
        return math.nextafter(float(units), 0.0)

    def _cuts(self, values: Floats) -> Iterator[Row]:
        for knapsack in self._knapsacks:
            yield from knapsack.cuts(values)


class _Knapsack:
    """A row of literals with whole weights, not all of which may be true."""

    def __init__(self, columns: Ints, weights: Ints, most: int) -> None:
        self._columns, self._weights, self._most = columns, weights, most

    def cuts(self, values: Floats) -> Iterator[Row]:
        """The extended cover inequality that a solution violates (Balas 1975).

        If some literals exceed what fits, not all of them are true; and of those that
        weigh no less than each of them, no more.
        """
        values = values[self._columns]
        order = np.lexsort((self._weights, -values))
        order = order[values[order] > _NONE]
        sums = np.cumsum(self._weights[order])
        count = int(np.searchsorted(sums, self._most, side="right")) + 1
        if count > len(order):
            return
        cover = self._least(order[:count], int(sums[count - 1]) - self._most)
        inside = self._weights >= self._weights[cover].max()
        inside[cover] = True
        if values[inside].sum() > len(cover) - 1 + _LEAST_VIOLATION:
            columns = np.sort(self._columns[inside])
            yield Row(columns, np.ones(len(columns)), high=float(len(cover) - 1))

    def _least(self, cover: Ints, excess: int) -> Ints:
        """Leave out what is not needed to exceed, the least true first."""
        needed = []
        for i in cover[::-1].tolist():
            if self._weights[i] < excess:
                excess -= int(self._weights[i])
            else:
                needed.append(i)
        return np.array(needed, np.int64)


def _knapsacks(program: LinearProgram) -> list[_Knapsack]:
    """The rows of a program that are knapsacks."""
    is_binary = np.zeros(program.cost.size, np.bool_)
    is_binary[program.binary] = True
    found = []
    matrix = program.matrix
    for row in np.flatnonzero(np.isfinite(program.row_high)).tolist():
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, weights = matrix.indices[entries], matrix.data[entries]
        if len(columns) > 2 and is_binary[columns].all() and (weights > 0).all():
            whole = np.rint(weights * _WHOLE).astype(np.int64)
            most = math.floor(program.row_high[row] * _WHOLE)
            if (whole == weights * _WHOLE).all():
                found.append(_Knapsack(columns.astype(np.int64), whole, most))
    return found
