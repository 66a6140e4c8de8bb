"""What a window may not change: the accesses and places of all other buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hybridalloc.arrays import Floats
from hybridalloc.bounds.space import units
from hybridalloc.cost_model import elapsed, traffic_s
from hybridalloc.cpsat_models.windows.surroundings import Surroundings, Window
from hybridalloc.memory_map import Allocation
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Memory, Observation

Range = tuple[int, int]
"""Bytes from the first to before the last."""


class Fixtures:
    """The steps of a window, with buffers that stand for what does not change."""

    def __init__(
        self,
        problem: Problem,
        surroundings: Surroundings,
        points: Sequence[int],
        own: Mapping[int, int],
        claims: Floats,
    ) -> None:
        """Nothing is there yet.

        Args:
            problem: The whole.
            surroundings: Those of its map.
            points: Where each step begins, and the end.
            own: The buffers that may change, and their indices in the window's problem.
            claims: (window,), seconds of idle time that other buffers' copies take.
        """
        self._problem = problem
        self._surroundings = surroundings
        self._points = points
        self._own = own
        self._claims = claims
        window = Window(points[0], points[-1])
        self._places = [
            rectangle
            for stay in surroundings.map.allocations
            if stay.buffer not in own and window.overlaps(stay)
            for rectangle in stay.rectangles(problem.program.buffers[stay.buffer].size)
        ]
        self.buffers: list[Buffer] = []
        """Those after the ones that may change, step by step."""
        self.allocations: list[Allocation] = []
        """Of those that are in fast memory."""

    def step(self, number: int) -> Instruction:
        """A step, as an instruction of the window's problem; adds its buffers."""
        low, high = self._points[number : number + 2]
        step = self._alone(low, number) if high == low + 1 else self._many(low, high)
        places = [
            self._fast(f"place {number} {begin}", (begin, end), number)
            for begin, end in self._taken(low, high)
        ]
        accesses = (Access(x, whole=True) for x in places)
        return replace(step, accesses=(*step.accesses, *accesses))

    def _alone(self, t: int, number: int) -> Instruction:
        """One instruction; each access that does not change is to a buffer of its own.

        From fast memory it is a write, which takes as long as what it stands for.
        """
        fast, step = self._problem.target.fast, self._problem.program.instructions[t]
        names, accesses = {}, list[Access]()
        for access in step.accesses:
            own = self._own.get(access.buffer)
            if own is not None:
                accesses.append(replace(access, buffer=own))
            elif self._surroundings.served(access.buffer, t) is None:
                own = self._slow(f"slow {number} {access.buffer}")
                accesses.append(replace(access, buffer=own, whole=False))
            else:
                own = self._fast(f"fast {number} {access.buffer}", (0, 0), number)
                size = round(traffic_s(fast, access) * fast.write_bandwidth)
                accesses.append(Access(own, 0, size, whole=True))
            names[access.buffer] = own
        accesses += self._claimed(t)
        seen = tuple(_seen(self._problem.observations[t], names))
        return replace(step, accesses=tuple(accesses), observations=seen)

    def _many(self, low: int, high: int) -> Instruction:
        """Several instructions as one, as long and with as much idle time."""
        problem = self._problem
        first = self._points[0]
        seconds, slow_s = 0.0, float(self._claims[low - first : high - first].sum())
        for t in range(low, high):
            accesses = problem.program.instructions[t].accesses
            slow = [
                x for x in accesses if self._surroundings.served(x.buffer, t) is None
            ]
            fast = {x.buffer for x in accesses} - {x.buffer for x in slow}
            seconds += elapsed(problem, t, fast)
            slow_s += sum(traffic_s(problem.target.slow, x) for x in slow)
        steps = problem.program.instructions[low:high]
        scratch = max(step.scratch_bytes for step in steps)
        size = int(slow_s * problem.target.slow.read_bandwidth)
        own = self._slow(f"slow {low} to {high}")
        return Instruction(steps[0].name, seconds, (Access(own, size),), scratch)

    def _claimed(self, t: int) -> Iterator[Access]:
        """Slow accesses that leave no more idle time than copies do, and no longer."""
        problem, step = self._problem, self._problem.program.instructions[t]
        served = {
            x.buffer for x in step.accesses if self._surroundings.served(x.buffer, t)
        }
        fast, slow = problem.target.fast, problem.target.slow
        busy_s = sum(
            traffic_s(fast if x.buffer in served else slow, x) for x in step.accesses
        )
        spare_s = elapsed(problem, t, served) - busy_s
        seconds = min(float(self._claims[t - self._points[0]]), spare_s)
        if seconds > 0:
            size = int(seconds * slow.read_bandwidth)
            yield Access(self._slow(f"copies {t}"), read_bytes=size)

    def _slow(self, name: str) -> int:
        self.buffers.append(Buffer(name, 1, is_input=True, memory=Memory.SLOW))
        return self._last

    def _fast(self, name: str, place: Range, number: int) -> int:
        """A buffer that is at this place during one step."""
        low, high = place
        self.buffers.append(Buffer(name, high - low, memory=Memory.FAST, offset=low))
        self.allocations.append(Allocation(self._last, low, number + 1, number + 2))
        return self._last

    @property
    def _last(self) -> int:
        return len(self._own) + len(self.buffers) - 1

    def _taken(self, low: int, high: int) -> Iterator[Range]:
        """The bytes that are not free during these instructions."""
        steps = self._problem.program.instructions[low:high]
        unit = self._problem.target.fast.alignment
        lowest = units(max(step.scratch_bytes for step in steps), unit) * unit
        places = sorted(
            (max(begin, lowest), end)
            for begin, end, start, stop in self._places
            if max(begin, lowest) < end and start < high and stop > low
        )
        now: Range | None = None
        for begin, end in places:
            if now is None or begin > now[1]:
                if now is not None:
                    yield now
                now = begin, end
            else:
                now = now[0], max(now[1], end)
        if now is not None:
            yield now


def _seen(
    observations: Iterable[Observation], names: Mapping[int, int]
) -> Iterator[Observation]:
    """The observations of an instruction, of the buffers that it accesses."""
    for x in observations:
        fast = tuple(sorted(names[buffer] for buffer in x.fast if buffer in names))
        if bool(fast) == bool(x.fast):
            yield replace(x, fast=fast)
