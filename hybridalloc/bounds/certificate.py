"""The proof of a bound: dual values for each leaf of the search, in exact arithmetic.

Any dual values ``y`` prove a bound of a linear program whose columns have finite
bounds: with ``r = cost - y A``, no solution costs less than the sum of ``y`` times the
bound of the row that it pushes against and of ``r`` times the bound of the column that
it pulls towards. Here that is computed with integers, since every floating-point number
is one times a power of two, so no rounding of the solver that found ``y`` matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats
from hybridalloc.bounds.linear_program import LinearProgram, Row

Exact = NDArray[np.object_]
"""Python's integers, which have as many digits as they need."""

_DUAL_BITS = 48
"""Dual values are rounded to multiples of ``2**-_DUAL_BITS``: any values prove some
bound."""
_MANTISSA_BITS = 53
_LEAST_BITS = 64


@dataclass(frozen=True, slots=True)
class Leaf:
    """Dual values of the rows, those that are not 0."""

    rows: NDArray[np.int32]
    values: Floats
    infeasible: bool = False
    """Whether they prove, at no cost, that there is no solution."""

    @staticmethod
    def of(duals: Floats, *, infeasible: bool = False) -> Leaf:
        """The leaf with these dual values, (rows,)."""
        rows = np.flatnonzero(duals).astype(np.int32)
        return Leaf(rows, duals[rows], infeasible)


@dataclass(frozen=True, slots=True)
class Branch:
    """A column that is 0 in one part of the search and 1 in the other."""

    column: int
    zero: int
    """The index of that part."""
    one: int
    """The index of that part."""


class ExactProgram:
    """A linear program in integers."""

    def __init__(self, program: LinearProgram, rows: Sequence[Row] = ()) -> None:
        """Convert a program.

        Args:
            program: All its columns have finite bounds.
            rows: Further rows; their entries and sides are multiples of ``2**-64``.
        """
        finite = [program.cost, program.low, program.high, program.matrix.data]
        finite += [program.row_low, program.row_high]
        self._bits = max(_LEAST_BITS, *map(_bits, finite))
        self._cost = self._exact(program.cost) << _DUAL_BITS
        self._low, self._high = self._exact(program.low), self._exact(program.high)
        entries = program.matrix.tocoo()
        self._row, self._column = entries.row, entries.col
        self._entry = self._exact(entries.data)
        self._row_low = np.where(np.isfinite(program.row_low), program.row_low, np.nan)
        self._row_high = np.where(
            np.isfinite(program.row_high), program.row_high, np.nan
        )
        self._sort()
        self.add(rows)

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows, whose entries and sides are multiples of ``2**-64``."""
        if not rows:
            return
        sizes = [row.columns.size for row in rows]
        first = self._row_low.size
        new = np.repeat(np.arange(first, first + len(rows)), sizes)
        self._row = np.concatenate([self._row, new])
        self._column = np.concatenate([self._column, *(row.columns for row in rows)])
        values = np.concatenate([row.values for row in rows])
        self._entry = np.concatenate([self._entry, self._exact(values)])
        self._row_low = np.append(self._row_low, [_or_nan(row.low) for row in rows])
        self._row_high = np.append(self._row_high, [_or_nan(row.high) for row in rows])
        self._sort()

    def bound(self, leaf: Leaf, fixed: Mapping[int, float]) -> Fraction | None:
        """What no solution beats, of those with some columns fixed.

        Args:
            leaf: Its dual values.
            fixed: The values of columns.

        Returns:
            The bound; ``None`` if there is proven to be no solution.
        """
        duals = np.zeros(self._row_low.size)
        duals[leaf.rows] = leaf.values
        duals[(duals > 0) & np.isnan(self._row_low)] = 0.0
        duals[(duals < 0) & np.isnan(self._row_high)] = 0.0
        cost = np.zeros_like(self._cost) if leaf.infeasible else self._cost
        total = self._total(cost, duals, fixed)
        if leaf.infeasible:
            # Otherwise nothing is proven, and no time is less than this.
            return None if total > 0 else Fraction(-1)
        return Fraction(int(total), 1 << (2 * self._bits + _DUAL_BITS))

    def _total(self, cost: Exact, duals: Floats, fixed: Mapping[int, float]) -> int:
        rows = np.flatnonzero(duals)
        sides = np.where(duals > 0, self._row_low, self._row_high)[rows]
        y = np.zeros(duals.size, dtype=object)
        y[rows] = _integers(np.rint(duals[rows] * 2.0**_DUAL_BITS))
        total = int((y[rows] * self._exact(sides)).sum()) << self._bits
        reduced = cost.copy()
        used = duals[self._row] != 0
        columns = self._column[used]
        if columns.size:
            starts = np.flatnonzero(np.diff(columns, prepend=-1))
            products = self._entry[used] * y[self._row[used]]
            reduced[columns[starts]] -= np.add.reduceat(products, starts)
        pulls = np.where(reduced > 0, self._low, self._high)
        for column, value in fixed.items():
            pulls[column] = int(value) << self._bits
        return total + int((reduced * pulls).sum())

    def _sort(self) -> None:
        order = np.argsort(self._column, kind="stable")
        self._row, self._column = self._row[order], self._column[order]
        self._entry = self._entry[order]

    def _exact(self, values: Floats) -> Exact:
        mantissas, exponents = np.frexp(values)
        whole = _integers(mantissas * 2.0**_MANTISSA_BITS)
        shifts = _integers(exponents.astype(float)) + (self._bits - _MANTISSA_BITS)
        up, down = np.maximum(shifts, 0), np.maximum(-shifts, 0)
        return np.asarray((whole << up) >> down, dtype=object)


def _bits(values: Floats) -> int:
    """After how many binary places the last of these numbers ends, about."""
    usual = values[np.isfinite(values) & (values != 0)]
    if not usual.size:
        return 0
    return int(_MANTISSA_BITS - np.frexp(usual)[1].min())


def _integers(values: Floats) -> Exact:
    return np.array([int(value) for value in values], dtype=object)


def _or_nan(value: float) -> float:
    return value if math.isfinite(value) else math.nan


@dataclass(frozen=True)
class Certificate:
    """All that it takes to check a bound again, without trust in any solver."""

    program: LinearProgram
    cuts: tuple[Row, ...]
    """Rows that every solution of the program satisfies whose binary columns are whole.
    """
    parts: tuple[Leaf | Branch, ...]
    """Of the search, the first being all of it. Their dual values count the rows of
    the program, then the cuts."""

    @property
    def leaves(self) -> int:
        """How many parts are not divided."""
        return sum(isinstance(part, Leaf) for part in self.parts)

    def bound(self) -> Fraction | None:
        """Compute the bound anew, in units of the program's time.

        Returns:
            The least over all leaves; ``None`` if none has a solution.
        """
        program = ExactProgram(self.program, self.cuts)
        found = [program.bound(leaf, fixed) for leaf, fixed in self._fixed()]
        return min((x for x in found if x is not None), default=None)

    def _fixed(self) -> Iterator[tuple[Leaf, dict[int, float]]]:
        """Every leaf, with the columns that are fixed there."""
        open_parts: list[tuple[int, dict[int, float]]] = [(0, {})]
        while open_parts:
            index, fixed = open_parts.pop()
            part = self.parts[index]
            if isinstance(part, Leaf):
                yield part, fixed
            else:
                open_parts.append((part.zero, {**fixed, part.column: 0.0}))
                open_parts.append((part.one, {**fixed, part.column: 1.0}))
