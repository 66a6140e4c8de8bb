"""The linear part of the model, as rows and columns.

Clauses and linear constraints that hold in any case are rows as they stand. What holds
only where some literal is true becomes a row that is slack where it is false: needed
for a solution to be one of the model, but of no use for a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from ortools.sat.python import cp_model
from scipy.sparse import csr_matrix

from hybridalloc.arrays import Floats
from hybridalloc.bounds.linear_program import LinearProgram
from hybridalloc.cpsat_models.mapping.variables import Lit, Model

_INFINITE = 2**62
"""Sides of a row from here on are none."""


@dataclass
class _Rows:
    """Rows under construction."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    def add(self, terms: Iterable[tuple[int, float]], low: float, high: float) -> None:
        """Add ``low <= sum(value * column) <= high``."""
        for column, value in terms:
            self.row.append(len(self.low))
            self.column.append(column)
            self.value.append(value)
        self.low.append(low)
        self.high.append(high)

    def add_clause(self, literals: Iterable[int]) -> None:
        """Add that one of these literals, as CP-SAT numbers them, is true."""
        terms, least = [], 1.0
        for literal in literals:
            terms.append((_column(literal), 1.0 if literal >= 0 else -1.0))
            least -= literal < 0
        self.add(terms, least, math.inf)


class LinearPart:
    """The columns are the model's variables, in their order, scaled."""

    def __init__(self, model: Model) -> None:
        """Convert a model."""
        self._model = model
        self._proto = model.proto
        domains = [list(variable.domain) for variable in self._proto.variables]
        self._low = np.array([x[0] for x in domains], np.float64)
        self._high = np.array([x[-1] for x in domains], np.float64)
        numbers = self._high > 1
        unit: Floats | float = 1.0
        if numbers.any():
            unit = _power_of_two(np.median(self._high[numbers], keepdims=True))
        self.scale: Floats = np.where(numbers, unit, 1.0)
        """(variables,): a column is the variable divided by this."""
        self.offset = float(self._proto.objective.offset)
        self.cost_unit = 1.0
        """Units of the objective for each unit of the program's, ``offset`` apart."""

    def program(self, *, complete: bool) -> LinearProgram:
        """As a program, whose numbers are all exact: scales are powers of two.

        Args:
            complete: Whether to include the rows that hold only somewhere.

        Raises:
            TimeoutError: The model's deadline has passed.
        """
        rows = self._rows(complete)
        shape = len(rows.low), len(self._low)
        matrix = csr_matrix((rows.value, (rows.row, rows.column)), shape=shape)
        matrix = matrix.multiply(self.scale[None, :]).tocsr()
        largest = abs(matrix).max(axis=1).toarray().ravel()
        scale = 1 / _power_of_two(np.maximum(largest, 1e-9))
        cost = self._cost() * self.scale
        self.cost_unit = float(
            _power_of_two(abs(cost).max(initial=1.0, keepdims=True))[0]
        )
        return LinearProgram(
            cost=cost / self.cost_unit,
            low=self._low / self.scale,
            high=self._high / self.scale,
            row_low=np.array(rows.low) * scale,
            row_high=np.array(rows.high) * scale,
            matrix=matrix.multiply(scale[:, None]).tocsr(),
            binary=np.flatnonzero(self._high <= 1),
        )

    def _cost(self) -> Floats:
        cost = np.zeros(len(self._low))
        objective = self._proto.objective
        for index, value in zip(objective.vars, objective.coeffs, strict=True):
            cost[_column(index)] += value if index >= 0 else -value
        return cost

    def _rows(self, complete: bool) -> _Rows:
        rows = _Rows()
        for constraint in self._proto.constraints:
            self._model.require_time()
            unless = [-x - 1 for x in constraint.enforcement_literal]
            if constraint.has_bool_or():
                rows.add_clause([*constraint.bool_or.literals, *unless])
            elif constraint.has_bool_and():
                for literal in constraint.bool_and.literals:
                    rows.add_clause([literal, *unless])
            elif constraint.has_linear() and (complete or not unless):
                self._add_linear(rows, constraint)
        return rows

    def _add_linear(self, rows: _Rows, constraint: cp_model.ConstraintProto) -> None:
        linear = constraint.linear
        terms: dict[int, float] = {}
        for index, value in zip(linear.vars, linear.coeffs, strict=True):
            column = _column(index)
            terms[column] = terms.get(column, 0.0) + (value if index >= 0 else -value)
        domain = list(linear.domain)
        low = float(domain[0]) if domain[0] > -_INFINITE else -math.inf
        high = float(domain[-1]) if domain[-1] < _INFINITE else math.inf
        literals = list(constraint.enforcement_literal)
        if not literals:
            rows.add(terms.items(), low, high)
            return
        if low > -math.inf:
            self._add_enforced(rows, terms, low, literals)
        if high < math.inf:
            negated = {column: -value for column, value in terms.items()}
            self._add_enforced(rows, negated, -high, literals)

    def _add_enforced(
        self, rows: _Rows, terms: dict[int, float], low: float, literals: list[int]
    ) -> None:
        """Add ``sum(terms) >= low``, slack if a literal is false."""
        least = sum(
            min(value * self._low[x], value * self._high[x])
            for x, value in terms.items()
        )
        if (short := low - least) <= 0:
            return
        row = dict(terms)
        for literal in literals:
            change = -short if literal >= 0 else short
            row[_column(literal)] = row.get(_column(literal), 0.0) + change
            low -= short if literal >= 0 else 0.0
        rows.add(row.items(), low, math.inf)


def column_of(literal: Lit) -> tuple[int, bool]:
    """The column of a literal, and whether the literal is its negation."""
    index = int(literal.index)
    return _column(index), index < 0


def is_true(values: Floats, literal: Lit) -> bool:
    """Whether a literal is true if the model's variables have these values."""
    column, negated = column_of(literal)
    return bool(values[column] > 0.5) != negated


def _column(index: int) -> int:
    """The variable of a literal, as CP-SAT numbers them."""
    return index if index >= 0 else -index - 1


def _power_of_two(values: Floats) -> Floats:
    """The nearest powers of two, about."""
    return np.asarray(2.0 ** np.round(np.log2(values)))
