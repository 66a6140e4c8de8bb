"""How long each instruction takes under a map, and what copies have of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import elapsed, traffic_s
from hybridalloc.cpsat_models.windows.surroundings import Surroundings, Window
from hybridalloc.memory_map import Allocation
from hybridalloc.pins import free
from hybridalloc.problem import Problem
from hybridalloc.program import MAX_TRIPS
from hybridalloc.solver import Run

Copy = tuple[int, int, float]
"""Issue, due, and seconds of work."""


class Clock:
    """The times of one map's instructions, brought up to date window by window."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self._problem = problem
        self._run = run
        self._may_be_fast = frozenset(free(problem))
        self.lost = np.zeros(len(problem.program))
        """(T,): seconds of one run more than if all that may be were in fast memory."""
        self.idle = np.zeros(len(problem.program))
        """(T,): seconds in which slow memory serves no access, each time it runs."""

    def measure(self, surroundings: Surroundings, window: Window) -> None:
        """Take in the times of a window, as far as the run's deadline allows."""
        problem, slow = self._problem, self._problem.target.slow
        for t in range(window.low, window.high):
            if self._run.expired:
                return
            accesses = problem.program.instructions[t].accesses
            served = {x.buffer for x in accesses if surroundings.served(x.buffer, t)}
            best = served | {
                x.buffer for x in accesses if x.buffer in self._may_be_fast
            }
            now = elapsed(problem, t, served)
            lost = max(0.0, now - elapsed(problem, t, best))
            self.lost[t] = lost * min(problem.program.multiplicity[t], MAX_TRIPS)
            self.idle[t] = now - sum(
                traffic_s(slow, x) for x in accesses if x.buffer not in served
            )

    def claims(
        self, surroundings: Surroundings, window: Window, changing: Collection[int]
    ) -> Floats:
        """(window,): the idle time that copies of other buffers take, first come first.

        Args:
            surroundings: Those of the map that was measured.
            window: Whose instructions are of interest.
            changing: The buffers that may change.
        """
        left: dict[int, float] = {}
        claimed = np.zeros(len(window))
        stays = (x for x in surroundings.map.allocations if x.buffer not in changing)
        copies = (copy for stay in stays for copy in self._copies(stay))
        for issue, due, work in sorted(copies):
            if due <= window.low or issue >= window.high:
                continue
            for t in range(issue, due):
                now = left.get(t, float(self.idle[t]))
                taken = min(now, work)
                left[t], work = now - taken, work - taken
                if window.low <= t < window.high:
                    claimed[t - window.low] += taken
                if work <= 0:
                    break
        return claimed

    def _copies(self, stay: Allocation) -> Iterator[Copy]:
        slow = self._problem.target.slow
        startup_s = self._problem.target.copy_engine.startup_s
        size = self._problem.program.buffers[stay.buffer].size
        if stay.has_copy:
            for low, high, issue in stay.parts(size):
                work = startup_s + (high - low) / slow.read_bandwidth
                yield issue, stay.ready, work
        if stay.eviction is not None:
            work = startup_s + size / slow.write_bandwidth
            yield stay.eviction.issue, stay.eviction.due, work
