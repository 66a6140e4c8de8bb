"""A bound of the model: branch and bound over its linear part, in exact arithmetic.

What the model holds beyond its linear part only makes solutions worse, so what no
solution of the linear part beats, none of the model beats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.bounds.branching import BranchAndBound
from hybridalloc.bounds.covers import Knapsack
from hybridalloc.bounds.linear_program import LinearProgram, Row
from hybridalloc.cpsat_models.mapping.linear import LinearPart

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
            cut = knapsack.cut(values)
            if cut is not None:
                yield cut


def _knapsacks(program: LinearProgram) -> list[Knapsack]:
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
                found.append(Knapsack(columns.astype(np.int64), whole, most))
    return found
