"""Linear programs: one under construction, one as arrays, and rows to add."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_matrix

from hybridalloc.arrays import Floats, Ints


@dataclass
class Builder:
    """Columns and rows that a program is put together from."""

    cost: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    binary: list[int] = field(default_factory=list)
    """The columns that are 0 or 1."""
    row_low: list[float] = field(default_factory=list)
    row_high: list[float] = field(default_factory=list)
    entry_row: list[int] = field(default_factory=list)
    entry_column: list[int] = field(default_factory=list)
    entry: list[float] = field(default_factory=list)

    def column(self, low: float = 0.0, high: float = 1.0, cost: float = 0.0) -> int:
        """A new column within [low, high]: its index."""
        self.cost.append(cost)
        self.low.append(low)
        self.high.append(high)
        return len(self.cost) - 1

    def choice(self, low: float = 0.0) -> int:
        """A new column that is 0 or 1: its index."""
        self.binary.append(self.column(low))
        return self.binary[-1]

    def row(
        self,
        entries: Iterable[tuple[int, float]] = (),
        low: float = -math.inf,
        high: float = math.inf,
    ) -> int:
        """A new row, ``low <= sum(value * column) <= high``: its index."""
        self.row_low.append(low)
        self.row_high.append(high)
        row = len(self.row_low) - 1
        for column, value in entries:
            self.add(row, column, value)
        return row

    def add(self, row: int, column: int, value: float) -> None:
        """Add ``value * column`` to a row."""
        self.entry_row.append(row)
        self.entry_column.append(column)
        self.entry.append(value)

    def build(self) -> LinearProgram:
        """The program as arrays."""
        shape = len(self.row_low), len(self.cost)
        matrix = csr_matrix(
            (self.entry, (self.entry_row, self.entry_column)), shape=shape
        )
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return LinearProgram(
            cost=np.array(self.cost),
            low=np.array(self.low),
            high=np.array(self.high),
            row_low=np.array(self.row_low),
            row_high=np.array(self.row_high),
            matrix=matrix,
            binary=np.array(self.binary, dtype=np.int64),
        )


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Minimise ``cost @ x`` where low <= x <= high, row_low <= matrix @ x <= row_high.

    Every column has finite bounds, so that any dual values prove a bound.
    """

    cost: Floats
    """(columns,)"""
    low: Floats
    """(columns,)"""
    high: Floats
    """(columns,)"""
    row_low: Floats
    """(rows,)"""
    row_high: Floats
    """(rows,)"""
    matrix: csr_matrix
    """(rows, columns)"""
    binary: Ints
    """The columns that shall be 0 or 1."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is added to a program: ``low <= values @ x[columns] <= high``."""

    columns: Ints
    values: Floats
    low: float = -math.inf
    high: float = math.inf
