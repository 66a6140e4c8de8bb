"""What a map makes of each buffer around a window: what the window must keep to."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.program import Program, Use


@dataclass(frozen=True, slots=True)
class Window:
    """The instructions [low, high): they hold no loop in part, or lie within it."""

    low: int
    high: int

    def __len__(self) -> int:
        return self.high - self.low

    def overlaps(self, allocation: Allocation) -> bool:
        """Whether an allocation is there during some of the instructions."""
        return allocation.start < self.high and allocation.end > self.low


@dataclass(frozen=True, slots=True)
class Crossing:
    """One buffer: its stays during a window, and how they cross the window's ends."""

    buffer: int
    """Index into ``Program.buffers``."""
    stays: tuple[Allocation, ...]
    """Those that overlap the window, in the order of the map."""
    entering: Allocation | None
    """What is held, complete, at the window's begin."""
    leaving: Allocation | None
    """What is held, complete, at the window's end."""
    valid_before: bool
    """Whether its slow copy is valid at the window's begin."""
    needed_after: bool
    """Whether its slow copy is valid at the window's end, and may be used later."""
    is_free: bool
    """Whether the window may change its stays."""

    @property
    def offset(self) -> int | None:
        """The offset that the ends of the window ask for."""
        held = self.entering or self.leaving
        return None if held is None else held.offset


class Surroundings:
    """The crossings of one map."""

    def __init__(self, program: Program, loops: Loops, memory_map: MemoryMap) -> None:
        self._program = program
        self._loops = loops
        self.map = memory_map
        self._stays: dict[int, list[Allocation]] = defaultdict(list)
        for allocation in memory_map.allocations:
            self._stays[allocation.buffer].append(allocation)

    def of(self, buffer: int) -> list[Allocation]:
        """All stays of a buffer, in the order of the map."""
        return self._stays.get(buffer, [])

    def served(self, buffer: int, t: int) -> Allocation | None:
        """The allocation that serves an access of an instruction."""
        return next((x for x in self.of(buffer) if x.ready <= t < x.end), None)

    def crossings(self, window: Window) -> Iterator[Crossing]:
        """Each buffer that the window accesses or that is there, by its index."""
        buffers = {
            access.buffer
            for instruction in self._program.instructions[window.low : window.high]
            for access in instruction.accesses
        }
        for buffer, stays in self._stays.items():
            if any(window.overlaps(x) for x in stays):
                buffers.add(buffer)
        for buffer in sorted(buffers):
            yield self._crossing(buffer, window)

    def _crossing(self, buffer: int, window: Window) -> Crossing:
        stays = [x for x in self.of(buffer) if window.overlaps(x)]
        entering = [x for x in stays if x.start < window.low]
        leaving = [x for x in stays if x.end > window.high]
        first, last = next(iter(entering), None), next(iter(leaving), None)
        is_free = (
            self._program.buffers[buffer].size > 0
            and len(entering) <= 1
            and len(leaving) <= 1
            and (not (first or last) or len({x.offset for x in stays}) == 1)
            and not any(_is_fixed(x, window) for x in stays)
        )
        return Crossing(
            buffer,
            tuple(stays),
            first if is_free else None,
            last if is_free else None,
            self.is_valid(buffer, window.low),
            self.is_valid(buffer, window.high) and self._is_live(buffer, window.high),
            is_free,
        )

    def is_valid(self, buffer: int, point: int) -> bool:
        """Whether the slow copy is valid at a point."""
        uses, stays = self._program.uses[buffer], self.of(buffer)
        dues = [
            x.eviction.due for x in stays if x.eviction and evicted_before(x, point)
        ]
        valid = self._program.buffers[buffer].is_input
        changed = 0
        for use in uses[: _first_from(uses, point)]:
            fast = any(x.ready <= use.instruction < x.end for x in stays)
            if use.access.whole or (use.access.writes and fast):
                valid, changed = not fast, use.instruction + 1
        return valid or any(changed <= due for due in dues)

    def _is_live(self, buffer: int, point: int) -> bool:
        """Whether what the buffer holds at a point may be used later."""
        uses = self._program.uses[buffer]
        index = _first_from(uses, point)
        around = self._loops.around(point) if point < len(self._program) else ()
        around = tuple(x for x in around if x.start < point)
        end = around[-1].end if around else len(self._program)
        if index < len(uses) and uses[index].instruction < end:
            return not uses[index].access.whole
        return bool(around) or self._program.buffers[buffer].is_output


def evicted_before(allocation: Allocation, point: int) -> bool:
    """Whether its eviction belongs to what comes before a point."""
    eviction = allocation.eviction
    if eviction is None or eviction.due > point:
        return False
    return not evicted_after(allocation, point)


def evicted_after(allocation: Allocation, point: int) -> bool:
    """Whether it lives on at a point, and its eviction is issued there or later."""
    eviction = allocation.eviction
    return eviction is not None and eviction.issue >= point and allocation.end > point


def _first_from(uses: Sequence[Use], point: int) -> int:
    """The index of the first use at a point or later."""
    return bisect_left(uses, point, key=lambda use: use.instruction)


def _is_fixed(allocation: Allocation, window: Window) -> bool:
    """Whether a copy runs across an end of the window, or for the next run."""
    if allocation.origin is Origin.CROSS_PROGRAM:
        return True
    spans = [(allocation.start, allocation.ready)]
    if allocation.eviction is not None:
        spans.append((allocation.eviction.issue, allocation.eviction.due))
    return any(
        start < end < due for start, due in spans for end in (window.low, window.high)
    )
