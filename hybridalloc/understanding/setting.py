"""A map to try changes on: what it leaves free, and what stands in the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

import numpy as np

from hybridalloc.checker import check
from hybridalloc.cost_model import idle
from hybridalloc.errors import UsageError
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.space import Space, Span
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop
from hybridalloc.simulator import Simulation, Simulator
from hybridalloc.understanding.explanation import changed
from hybridalloc.understanding.serving import Serving

_ROUNDING = 1e-9
"""By how much of a run's time two of its times may be off."""


def require_valid(problem: Problem, memory_map: MemoryMap, name: str) -> None:
    """Refuse an invalid map.

    Raises:
        UsageError: It is; tells the first violation.
    """
    violations = check(problem, memory_map)
    if violations:
        first, count = violations[0], len(violations)
        more = f" (and {count - 1} more, see `hybridalloc check`)" if count > 1 else ""
        raise UsageError(f"{name} is not valid: {first.rule}: {first.message}{more}")


class Setting:
    """A valid map, the room that it leaves and the idle time in it."""

    def __init__(
        self, simulator: Simulator, loops: Loops, memory_map: MemoryMap
    ) -> None:
        problem = self.problem = simulator.problem
        self.simulator = simulator
        self.loops = loops
        self.memory_map = memory_map
        self.simulation: Simulation = simulator.simulate(memory_map)
        self.rounding_s = _ROUNDING * self.simulation.time_s
        """Differences in the time of a run that are no larger mean nothing."""
        self.serving = Serving(problem, memory_map)
        idles = (idle(problem, t, fast) for t, fast in enumerate(self.serving.fast))
        runs = problem.program.multiplicity
        total = accumulate((s * k for s, k in zip(idles, runs, strict=True)), initial=0)
        self._clock = np.array(list(total))

    def copy_s(self, buffer: Buffer, evicted: bool = False) -> float:
        """Seconds that one copy takes that has the slow memory to itself."""
        target = self.problem.target
        rate = target.slow.write_bandwidth if evicted else target.slow.read_bandwidth
        return target.copy_engine.startup_s + buffer.size / rate

    def issues(self, ready: int, copy_s: float, body: Loop | None) -> list[int]:
        """Points of a body at which to issue a prefetch, from late to early.

        Args:
            ready: When it is due.
            copy_s: Seconds that it takes; the first point leaves that much idle time,
                were it alone, the next ones twice and four times as much.
            body: The loop that both points lie in.
        """
        clock, needed = self._clock, copy_s * self.loops.trips(body)
        wanted = [clock[ready] - factor * needed for factor in (1, 2, 4)]
        found = [int(x) - 1 for x in np.searchsorted(clock, wanted, side="right")]
        first = body.start if body else 0
        return [
            self.loops.outside_before(min(max(point, first), ready), body)
            for point in found
        ]

    def dues(self, issue: int, copy_s: float, body: Loop | None) -> list[int]:
        """Points of a body by which an eviction may be complete, from early to late.

        Args:
            issue: When it is issued.
            copy_s: Seconds that it takes, as for ``issues``.
            body: The loop that both points lie in.
        """
        clock, needed = self._clock, copy_s * self.loops.trips(body)
        wanted = [clock[issue] + factor * needed for factor in (1, 2, 4)]
        last = body.end if body else len(self.problem.program)
        return [
            self.loops.outside_after(min(int(x), last), body)
            for x in np.searchsorted(clock, wanted, side="left")
        ]

    def change_s(self, other: Simulation) -> float:
        """Seconds that another map takes longer."""
        seconds = other.time_s - self.simulation.time_s
        return seconds if abs(seconds) > self.rounding_s else 0.0

    def without(self, removed: Sequence[int]) -> Setting:
        """The map without some allocations, by index."""
        smaller = changed(self.memory_map, tuple(removed))
        return Setting(self.simulator, self.loops, smaller)


class Room:
    """The room that a map leaves, and the allocations that could give way."""

    def __init__(
        self, setting: Setting, worths: Sequence[float], immovable: Collection[int]
    ) -> None:
        """The room of a map.

        Args:
            setting: The map.
            worths: (allocations,): what each of them is worth, in seconds.
            immovable: The buffers whose allocations must stay.
        """
        self._allocations = setting.memory_map.allocations
        self._buffers = setting.problem.program.buffers
        self._immovable = immovable
        self.worths = worths
        self._most = 1.0 + sum(map(abs, worths))
        self._least = self._most * 1e-9 / (1 + len(self._allocations))
        self._space: Space[int] = Space(setting.problem)
        for index in range(len(self._allocations)):
            self._take(index)

    def without(self, smaller: Setting, removed: Collection[int]) -> Room:
        """The room without some allocations, by index; the others are worth the same.

        Args:
            smaller: The map without them.
            removed: Which they are.
        """
        kept = [x for i, x in enumerate(self.worths) if i not in removed]
        return Room(smaller, kept, self._immovable)

    def offset(
        self, buffer: Buffer, spans: Sequence[Span], extended: int | None = None
    ) -> int | None:
        """An offset at which a buffer fits during these spans, if there is one.

        Args:
            buffer: What to place; its fixed offset is kept.
            spans: When.
            extended: An allocation, by index, that does not count.
        """
        if extended is not None:
            self._space.give_back(extended)
        found = self._space.best_fit(buffer, spans)
        if extended is not None:
            self._take(extended)
        return found

    def in_the_way(self, buffer: Buffer, spans: Sequence[Span]) -> tuple[int, ...]:
        """The allocations of least worth whose removal makes room, by index.

        A sliced one counts once for each slice in the way. Nothing if what cannot move
        is in the way, or there is room.
        """
        found = self._space.cheapest(buffer, spans)
        if any(self._allocations[i].buffer in self._immovable for i in found):
            return ()
        return tuple(sorted(found))

    def _take(self, index: int) -> None:
        allocation = self._allocations[index]
        size = self._buffers[allocation.buffer].size
        value = max(0.0, self.worths[index]) + self._least  # fewer, if they tie
        if allocation.buffer in self._immovable:
            value = self._most
        for rectangle in allocation.rectangles(size):
            self._space.take(index, rectangle, value)
