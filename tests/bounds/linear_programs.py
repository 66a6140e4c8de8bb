"""Small linear programs for tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.bounds.linear_program import Builder, LinearProgram, Row

Entries = Sequence[float] | Floats


def program(
    cost: Entries,
    high: Entries,
    *rows: tuple[Entries, float, float],
    binary: bool = False,
) -> LinearProgram:
    """Columns within [0, high], and rows of (entries, low, high)."""
    builder = Builder()
    for price, most in zip(cost, high, strict=True):
        column = builder.column(high=most, cost=price)
        if binary:
            builder.binary.append(column)
    for entries, low, most in rows:
        builder.row(enumerate(entries), low, most)
    return builder.build()


def row(entries: Entries, low: float = -math.inf, high: float = math.inf) -> Row:
    """A row with an entry for each column."""
    return Row(np.arange(len(entries)), np.array(entries, dtype=float), low, high)


def whole(given: LinearProgram) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every solution with columns of 0 or 1, and its exact cost."""
    matrix = given.matrix.toarray()
    for values in product((0, 1), repeat=given.cost.size):
        sums = [exact(entries, values) for entries in matrix]
        if all(
            low <= x <= high
            for low, x, high in zip(given.row_low, sums, given.row_high, strict=True)
        ):
            yield values, exact(given.cost, values)


def exact(entries: Entries, values: Entries) -> Fraction:
    """The sum of the products."""
    pairs = zip(entries, values, strict=True)
    return sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))
