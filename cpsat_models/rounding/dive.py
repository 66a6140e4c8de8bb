"""Diving: a solution of the relaxation is decided bit by bit.

What is nearly 1 becomes 1, some of it at a time, and the linear program is solved anew,
so that what is left makes the best of what is decided (Wolsey, Integer Programming,
1998, section 12.3).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.relaxation import Relaxation
from hybridalloc.cpsat_models.rounding.holding import Holding, stay_table

WHOLE = 1e-5
"""What is this close to 0 or 1 is that."""
FEWER = 4
"""Where too much was decided at once, one part in so many is tried."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a dive goes."""

    batch: float
    """The share of what is undecided that is decided at a time."""
    noise: float
    """The standard deviation of what is added to values before the largest are
    decided."""


class Diver:
    """Decides what is held in fast memory, in solutions of one relaxation."""

    def __init__(self, relaxation: Relaxation, solver: LinearSolver) -> None:
        """Take over a solver.

        Args:
            relaxation: What the columns mean.
            solver: Of its program, perhaps with cuts.
        """
        self._solver, self._free = solver, relaxation.free
        table = stay_table(relaxation)
        self._buffer, self._low, self._high, self._units, self._column = table

    def dive(
        self,
        values: Floats,
        without: Iterable[Holding],
        manner: Manner,
        rng: np.random.Generator,
        deadline: float,
    ) -> Floats:
        """The values when all is decided, or when time is up.

        Args:
            values: (columns,): the solution to begin with.
            without: What shall not be held.
            manner: How it goes.
            rng: Makes the noise.
            deadline: In seconds of ``time.monotonic()``.
        """
        fixed = self._without(without)
        if fixed:
            self._solver.fix(fixed)
            solution = self._solver.solve(deadline)
            if not solution.optimal:
                return values
            values = solution.values
        share = manner.batch
        while time.monotonic() < deadline:
            undecided = self._undecided(values, fixed)
            if not len(undecided):
                break
            wanted = values[self._column[undecided]]
            wanted = wanted + manner.noise * rng.standard_normal(len(undecided))
            first = undecided[np.argsort(-wanted, kind="stable")]
            count = math.ceil(share * len(undecided))
            decided = fixed | self._decide(values, first[:count])
            self._solver.fix(decided)
            solution = self._solver.solve(deadline)
            if solution.optimal:
                fixed, values, share = decided, solution.values, manner.batch
            elif solution.infeasible and count > 1:
                share /= FEWER
            elif solution.infeasible:  # not even one fits, so it is decided against
                fixed = fixed | {int(self._column[first[0]]): 0.0}
            else:
                break
        return values

    def _without(self, holdings: Iterable[Holding]) -> dict[int, float]:
        fixed: dict[int, float] = {}
        for one in holdings:
            first = np.searchsorted(self._buffer, one.buffer, side="left")
            last = np.searchsorted(self._buffer, one.buffer, side="right")
            low, high = self._low[first:last], self._high[first:last]
            within = (one.low <= low) & (low < high) & (high <= one.high)
            columns = self._column[first:last][within]
            fixed.update(dict.fromkeys(columns.tolist(), 0.0))
        return fixed

    def _undecided(self, values: Floats, fixed: Mapping[int, float]) -> Ints:
        """Which stays are neither decided nor nearly whole."""
        value = values[self._column]
        between = (value > WHOLE) & (value < 1 - WHOLE)
        free = ~np.isin(self._column, np.array([*fixed], np.int64))
        return np.flatnonzero(between & free)

    def _decide(self, values: Floats, chosen: Ints) -> dict[int, float]:
        """All that is 1 stays so; what is chosen becomes 1, or 0 if it does not fit.

        Of a buffer of which something does not fit nothing else is decided yet.
        """
        ones = np.flatnonzero(values[self._column] >= 1 - WHOLE)
        load = self._load(ones)
        decided = dict.fromkeys(self._column[ones].tolist(), 1.0)
        left_out: set[int] = set()
        for i in chosen.tolist():
            span, buffer = slice(self._low[i], self._high[i]), int(self._buffer[i])
            if buffer in left_out:
                continue
            fits = bool((load[span] + self._units[i] <= self._free[span]).all())
            decided[int(self._column[i])] = float(fits)
            if fits:
                load[span] += self._units[i]
            else:
                left_out.add(buffer)
        return decided

    def _load(self, chosen: Ints) -> Ints:
        """(T,): the units that these stays hold."""
        change = np.zeros(len(self._free) + 1, np.int64)
        np.add.at(change, self._low[chosen], self._units[chosen])
        np.add.at(change, self._high[chosen], -self._units[chosen])
        return np.cumsum(change)[:-1]
