"""What the rules look at: the map's allocations by buffer, and a program's writes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from hybridalloc.checker.loops import LoopNest
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Use


@dataclass(frozen=True, slots=True)
class Placed:
    """An allocation of the map, with its index there and its buffer."""

    index: int
    allocation: Allocation
    buffer: Buffer

    def __str__(self) -> str:
        stay = f"[{self.allocation.start}, {self.allocation.end})"
        where = (
            "without an offset"
            if self.allocation.offset is None
            else f"at offset {self.allocation.offset}"
        )
        return f"allocation {self.index} of buffer {self.buffer.name} ({stay} {where})"

    def serves(self, t: int) -> bool:
        """Whether an access of instruction ``t`` is served by it."""
        return self.allocation.ready <= t < self.allocation.end

    def is_complete(self, point: int) -> bool:
        """Whether a copy issued at this point finds its whole content.

        A copy that is issued and due at one point is complete only after that.
        """
        ready = self.allocation.ready
        at_once = any(copy.issue == ready for copy in self.fetches())
        return ready < point or (ready == point and not at_once)

    def parts(self) -> Iterator[tuple[int, int, int]]:
        """Its rectangles as (first byte, last byte + 1, start); none without offset."""
        if self.allocation.offset is not None:
            yield from self.allocation.parts(self.buffer.size)

    def fetches(self) -> Iterator[Copy]:
        """The copies that bring its content: none, one, or one for each slice."""
        if not self.allocation.has_copy:
            return
        issues = [piece.issue for piece in self.allocation.slices]
        for issue in issues or [self.allocation.start]:
            yield Copy(self, issue, self.allocation.ready, is_eviction=False)

    def copies(self) -> Iterator[Copy]:
        """Its copies in and out."""
        yield from self.fetches()
        if self.allocation.eviction is not None:
            eviction = self.allocation.eviction
            yield Copy(self, eviction.issue, eviction.due, is_eviction=True)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy between the memories: a prefetch, one slice of it, or an eviction."""

    placed: Placed
    issue: int
    due: int
    is_eviction: bool

    def __str__(self) -> str:
        if self.is_eviction:
            what = "eviction"
        else:
            what = "slice" if self.placed.allocation.slices else "prefetch"
        return (
            f"the {what} of {self.placed}, issued at point {self.issue} and due at "
            f"point {self.due},"
        )


class Stays:
    """The allocations of one buffer, to be looked up by point."""

    def __init__(self, allocations: list[Placed]) -> None:
        self.allocations = sorted(allocations, key=lambda x: x.allocation.start)
        self._starts = [placed.allocation.start for placed in self.allocations]
        ends = (placed.allocation.end for placed in self.allocations)
        self._reach = list(accumulate(ends, max))

    def at(self, point: int) -> Iterator[Placed]:
        """Those with start <= point <= end: also those that end just there."""
        last = bisect_right(self._starts, point) - 1
        while last >= 0 and self._reach[last] >= point:
            if self.allocations[last].allocation.end >= point:
                yield self.allocations[last]
            last -= 1


class Facts:
    """A problem and a map, prepared for the rules.

    Allocations of buffers that do not exist are in ``memory_map`` only: no rule but
    the one about them can say anything about them.
    """

    def __init__(self, problem: Problem, memory_map: MemoryMap) -> None:
        self.program, self.target = problem.program, problem.target
        self.memory_map = memory_map
        self.end = len(self.program)
        """``T``: the number of instructions, and the last point."""
        self.nest = LoopNest(self.program)
        buffers = self.program.buffers
        self.allocations = tuple(
            Placed(index, allocation, buffers[allocation.buffer])
            for index, allocation in enumerate(memory_map.allocations)
            if allocation.buffer < len(buffers)
        )
        by_buffer: dict[int, list[Placed]] = {}
        for placed in self.allocations:
            by_buffer.setdefault(placed.allocation.buffer, []).append(placed)
        self.stays = {buffer: Stays(stays) for buffer, stays in by_buffer.items()}
        """The allocations of each buffer that has any, by its index."""
        self._writes = [
            [use.instruction for use in uses if use.access.writes]
            for uses in self.program.uses
        ]

    def served_fast(self, use: Use) -> bool:
        """Whether an access is served from fast memory."""
        stays = self.stays.get(use.access.buffer)
        if stays is None:
            return False
        t = use.instruction
        return any(placed.serves(t) for placed in stays.at(t))

    def writes(self, buffer: int, low: int, high: int) -> list[int]:
        """The instructions in [low, high) that write a buffer."""
        writes = self._writes[buffer]
        return writes[bisect_left(writes, low) : bisect_left(writes, high)]

    def first_use(self, buffer: int, low: int, high: int) -> Use | None:
        """The first access to a buffer by the instructions in [low, high)."""
        uses = self.program.uses[buffer]
        first = bisect_left(uses, low, key=lambda use: use.instruction)
        if first < len(uses) and uses[first].instruction < high:
            return uses[first]
        return None

    def instruction(self, t: int) -> str:
        """How a message calls instruction ``t``."""
        return f"instruction {t} ({self.program.instructions[t].name})"
