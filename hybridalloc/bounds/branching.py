"""Branch and bound over a relaxation, whose bound is proven at every moment.

Best first: the part of the search with the least bound is divided next, at the column
that promises to raise both halves most (pseudo-costs; Benichou et al. 1971). The bound
of a part is that of its dual values in exact arithmetic, so the least of all parts is
proven however early the search ends.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.certificate import (
    Branch,
    Certificate,
    ExactProgram,
    Leaf,
)
from hybridalloc.bounds.linear_program import LinearProgram, Row
from hybridalloc.bounds.linear_solver import LinearSolver, Solution

Separate = Callable[[Floats], Iterable[Row]]
"""The cuts that a solution, (columns,), violates."""

_INTEGRAL = 1e-6
_LEAST_GAIN = 1e-4
"""What a round of cuts at the root must add to the bound, as a share of it."""
_ROUNDS = 30


@dataclass
class _Part:
    """A part of the search: the solutions with some columns fixed."""

    fixed: Mapping[int, float]
    leaf: Leaf
    bound: Fraction | None
    """``None``: it has no solution."""
    values: Floats
    """(columns,): the solution of its relaxation, about."""
    branch: Branch | None = None
    """How it was divided, if it was."""


class BranchAndBound:
    """One search."""

    def __init__(
        self, program: LinearProgram, separate: Separate, deadline: float
    ) -> None:
        """Nothing is solved yet: all dual values are 0.

        Args:
            program: All its columns have finite bounds.
            separate: Finds cuts.
            deadline: In seconds of ``time.monotonic()``.
        """
        self._program, self._separate = program, separate
        self.deadline = deadline
        """When it ends, in seconds of ``time.monotonic()``."""
        self._exact = ExactProgram(program)
        self.solver = LinearSolver(program)
        """Of the linear program with all cuts so far."""
        self.cuts: list[Row] = []
        self._gains = _Gains()
        leaf = Leaf.of(np.zeros(program.row_low.size))
        bound = self._exact.bound(leaf, {})
        self._root = _Part({}, leaf, bound, np.zeros(program.cost.size))
        self._parts = [self._root]
        self.first: Solution | None = None
        """Of the root before all cuts, if there was time for it."""

    @property
    def bound(self) -> Fraction | None:
        """What no solution beats; ``None`` if there is none."""
        bounds = [part.bound for part in self._parts if part.branch is None]
        return min((x for x in bounds if x is not None), default=None)

    @property
    def values(self) -> Floats:
        """(columns,): the solution of the part with the least bound, about."""
        leaves = [x for x in self._parts if x.branch is None and x.bound is not None]
        return min(
            leaves, key=lambda x: x.bound or Fraction(), default=self._root
        ).values

    def certificate(self) -> Certificate:
        """The proof of the bound."""
        parts = tuple(part.branch or part.leaf for part in self._parts)
        return Certificate(self._program, tuple(self.cuts), parts)

    def run(self, cutoff: float) -> None:
        """Search until the bound is the optimum, above the cutoff, or time is up."""
        self.solve_root(cutoff)
        if self._root.bound is None or self.first is None or not self.first.optimal:
            return
        open_parts = [(self._root.bound, 0)]
        while open_parts and time.monotonic() < self.deadline:
            bound, index = heapq.heappop(open_parts)
            part = self._parts[index]
            column = self._gains.best(part.values, self._program.binary)
            if bound >= cutoff or column is None:
                return
            self._divide(part, column)
            for index in (len(self._parts) - 2, len(self._parts) - 1):
                half_bound = self._parts[index].bound
                if half_bound is not None:
                    heapq.heappush(open_parts, (half_bound, index))

    def solve_root(self, cutoff: float) -> None:
        """Solve the whole with cuts, until they add little or it is above the cutoff.

        Does nothing if that is done already.
        """
        root = self._root
        if self.first is not None:
            return
        for _ in range(_ROUNDS):
            before = root.bound
            solution = self._improve(root)
            self.first = self.first or solution
            if before is None or root.bound is None or not solution.optimal:
                return
            if root.bound >= cutoff:
                return
            small = root.bound - before <= _LEAST_GAIN * abs(before)
            if self.first is not solution and small:
                return
            if not self._cut(solution):
                return

    def _cut(self, solution: Solution) -> bool:
        """Add the cuts that a solution violates: whether there are any."""
        cuts = list(self._separate(solution.values))
        self.cuts += cuts
        self.solver.add(cuts)
        self._exact.add(cuts)
        return bool(cuts)

    def _divide(self, part: _Part, column: int) -> None:
        """Divide a part: its halves are the last two parts then."""
        halves = tuple(
            _Part({**part.fixed, column: value}, part.leaf, part.bound, part.values)
            for value in (0.0, 1.0)
        )
        for half, value in zip(halves, (0.0, 1.0), strict=True):
            solution = self._improve(half)
            if solution.optimal and self._cut(solution):
                self._improve(half)
            gain = None if half.bound is None else half.bound - (part.bound or 0)
            self._gains.learn(column, part.values[column], value, gain)
        part.branch = Branch(column, len(self._parts), len(self._parts) + 1)
        self._parts += halves

    def _improve(self, part: _Part) -> Solution:
        """Solve the linear program of a part; keep what proves more than before."""
        self.solver.fix(part.fixed)
        solution = self.solver.solve(self.deadline)
        if solution.duals.size:
            leaf = Leaf.of(solution.duals, infeasible=solution.infeasible)
            bound = self._exact.bound(leaf, part.fixed)
            if bound is None or (part.bound is not None and bound > part.bound):
                part.leaf, part.bound = leaf, bound
        if solution.optimal:
            part.values = solution.values
        return solution


@dataclass
class _Gains:
    """Pseudo-costs: what fixing a column has added to the bound, for each unit."""

    total: dict[tuple[int, float], float] = field(default_factory=dict)
    count: dict[tuple[int, float], int] = field(default_factory=dict)

    def learn(
        self, column: int, before: float, value: float, gain: Fraction | None
    ) -> None:
        """Take in what fixing a column has added; ``None``: no solution is left."""
        change = abs(value - before)
        if gain is not None and change > _INTEGRAL:
            key = column, value
            self.total[key] = self.total.get(key, 0.0) + float(gain) / change
            self.count[key] = self.count.get(key, 0) + 1

    def best(self, values: Floats, binary: Ints) -> int | None:
        """The column to divide at; ``None`` if all are whole."""
        fractional = binary[
            np.abs(values[binary] - np.rint(values[binary])) > _INTEGRAL
        ]
        if not fractional.size:
            return None
        known = sum(self.count.values())
        usual = sum(self.total.values()) / known if known else 1.0
        scores = [self._score(int(x), float(values[x]), usual) for x in fractional]
        return int(fractional[int(np.argmax(scores))])

    def _score(self, column: int, value: float, usual: float) -> float:
        down = value * self._mean((column, 0.0), usual)
        up = (1 - value) * self._mean((column, 1.0), usual)
        return max(down, 1e-6) * max(up, 1e-6)

    def _mean(self, key: tuple[int, float], usual: float) -> float:
        count = self.count.get(key)
        return self.total[key] / count if count else usual
