"""What a solution of the relaxation holds in fast memory, as stays."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.relaxation import Relaxation
from hybridalloc.loops import Loops
from hybridalloc.pins import free
from hybridalloc.problem import Problem
from hybridalloc.stays import Lifetime, Stay, cross_program_stays


@dataclass(frozen=True, slots=True)
class Holding:
    """A buffer in fast memory during the instructions [low, high)."""

    buffer: int
    low: int
    high: int


def stay_table(relaxation: Relaxation) -> Ints:
    """(5, stays): buffer, low, high, units and column of each stay, in this order."""
    rows = [(x.buffer, x.low, x.high, x.units, x.column) for x in relaxation.stays]
    return np.array(sorted(rows), np.int64).reshape(-1, 5).T


class Holdings:
    """Reads solutions of one relaxation."""

    def __init__(self, relaxation: Relaxation) -> None:
        table = stay_table(relaxation)
        table = table[:, table[1] < table[2]]
        self._buffer, self._low, self._high, _, self._column = table

    def of(self, values: Floats, threshold: float) -> Iterator[Holding]:
        """What is held at least in this part, each as long as it is without a break.

        Args:
            values: (columns,): a solution.
            threshold: In (0, 1].
        """
        taken = np.flatnonzero(values[self._column] >= threshold)
        buffer, low, high = self._buffer[taken], self._low[taken], self._high[taken]
        goes_on = (buffer[1:] == buffer[:-1]) & (low[1:] == high[:-1])
        first = np.flatnonzero(np.append(True, ~goes_on)[: len(taken)])
        last = np.flatnonzero(np.append(~goes_on, True)[: len(taken)])
        table = np.stack((buffer[first], low[first], high[last]), axis=1)
        yield from (Holding(*row) for row in table.tolist())


class StayFinder:
    """Finds the stays that hold buffers for so long."""

    def __init__(self, problem: Problem, loops: Loops) -> None:
        program = problem.program
        points = [[use.instruction for use in uses] for uses in program.uses]
        self._program, self._loops, self._points = program, loops, points
        self._free = frozenset(free(problem))
        self._cross_program: dict[int, list[Stay]] = defaultdict(list)
        for stay in cross_program_stays(problem, loops):
            self._cross_program[stay.buffer].append(stay)
        self._lifetimes: dict[int, Lifetime] = {}

    def stay(self, holding: Holding) -> Stay | None:
        """A stay of the accesses within, or of most of them, if there is one.

        There is none of what is pinned, or has no bytes.
        """
        if holding.buffer not in self._free:
            return None
        points = self._points[holding.buffer]
        first = bisect_left(points, holding.low)
        last = bisect_left(points, holding.high) - 1
        if first > last:
            return None
        found = self._lifetime(holding.buffer).stays_of(first, last)
        within = (x for x in found if first <= x.first and x.last <= last)
        return max(within, key=lambda x: len(x.instructions), default=None)

    def cross_program(self, holding: Holding) -> Stay | None:
        """The longest stay within that begins as a cross-program prefetch, if any."""
        if holding.low > 0 or holding.buffer not in self._cross_program:
            return None
        stays = self._cross_program[holding.buffer]
        within = [stay for stay in stays if stay.end <= holding.high]
        return max(within, key=lambda x: x.last, default=None)

    def _lifetime(self, buffer: int) -> Lifetime:
        if buffer not in self._lifetimes:
            lifetime = Lifetime(self._program, self._loops, buffer)
            self._lifetimes[buffer] = lifetime
        return self._lifetimes[buffer]
