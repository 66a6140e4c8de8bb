"""The best plan so far, and when to report it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from hybridalloc.allocating import in_queue_order
from hybridalloc.baselines.moves import LEAST_GAIN
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import pinned
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED, Outcome, Run

EVERY_S = 0.5
"""Seconds between two reports of a search, at least: a plan is better many times a
second, and to build its map takes time."""


def best_plan(simulator: Simulator, run: Run, plans: Iterable[Plan]) -> Outcome:
    """The map of the best plan, or the empty map; each better one is reported.

    Args:
        simulator: Of the problem.
        run: Takes the reports.
        plans: One after the other; each is looked at before the next is asked for, and
            may be the same as before, changed. Where buffers are pinned, all have them.
    """
    best, best_s = None, math.inf
    if not pinned(simulator.problem.program):
        best, best_s = MemoryMap(), simulator.slow_s
        run.report(best)
    for plan in plans:
        memory_map = plan.memory_map()
        seconds = simulator.simulate(memory_map).time_s
        if seconds < best_s:
            best, best_s = memory_map, seconds
            run.report(memory_map)
    return UNANSWERED if best is None else Outcome(best)


class Record:
    """Remembers the best plan, and reports it when the last report is long ago.

    Whoever searches calls ``report`` when the search ends, however it does.
    """

    def __init__(self, run: Run, start: MemoryMap, seconds: float) -> None:
        """Begin with a map that is known already.

        Args:
            run: Takes the reports.
            start: Some map.
            seconds: Its simulated time.
        """
        self.seconds = seconds
        """The simulated time of the best map."""
        self._run = run
        self._placed: list[Placed] = []
        self._map: MemoryMap | None = start
        self._is_reported = True
        self._next_at = 0.0

    @property
    def map(self) -> MemoryMap:
        """The best map."""
        if self._map is None:
            allocations = [x for one in self._placed for x in one.allocations]
            self._map = MemoryMap(in_queue_order(allocations))
        return self._map

    def offer(self, plan: Plan, seconds: float) -> None:
        """Remember a plan if it is better.

        Args:
            plan: As it is now; it may change later.
            seconds: The simulated time of its map.
        """
        if seconds < self.seconds * (1 - LEAST_GAIN):
            self.seconds, self._map, self._is_reported = seconds, None, False
            self._placed = [one for group in plan.placed for one in group]
        if not self._is_reported and time.monotonic() >= self._next_at:
            self.report()

    def report(self) -> None:
        """Report the best plan's map if it is not known yet."""
        if self._is_reported:
            return
        self._is_reported = True
        self._run.report(self.map)
        self._next_at = time.monotonic() + EVERY_S
