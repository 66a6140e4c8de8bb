"""A piece of XLA's answer: a run of uses of one buffer at one offset."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.memory_map import Allocation, Eviction, Origin, Slice


@dataclass(frozen=True, slots=True)
class Piece:
    """An allocation in the making; its times are instructions, both inclusive."""

    buffer: int
    offset: int
    start: int
    end: int
    first: int = 0
    """The first access that it serves, as an index into the buffer's uses."""
    last: int = -1
    """The last access that it serves."""
    ready: int = -1
    """The point at which its prefetch is due, if it has one."""
    slices: tuple[Slice, ...] = ()
    eviction: Eviction | None = None
    crosses: bool = False
    """Whether the previous run leaves it in fast memory."""
    tail: int = -1
    """The point at which it is fetched for the next run, if its place is given up."""

    @property
    def prefetched(self) -> bool:
        """Whether it begins with a copy from slow memory."""
        return self.ready >= 0

    @classmethod
    def of(cls, allocation: Allocation) -> Piece:
        """An allocation that has its offset, and is no cross-program prefetch."""
        assert allocation.offset is not None
        return cls(
            allocation.buffer,
            allocation.offset,
            allocation.start,
            allocation.end - 1,
            ready=allocation.ready if allocation.has_copy else -1,
            slices=allocation.slices,
            eviction=allocation.eviction,
        )

    def allocations(self, points: int) -> tuple[Allocation, ...]:
        """What it is in the memory map of a program of so many instructions."""
        if self.crosses:
            spans = [(0, points)]
            if self.tail >= 0:
                spans = [(0, self.end + 1), (self.tail, points)]
            return tuple(
                Allocation(
                    self.buffer,
                    self.offset,
                    start,
                    end,
                    Origin.CROSS_PROGRAM,
                    ready=end if start else 0,
                )
                for start, end in spans
            )
        return (
            Allocation(
                self.buffer,
                self.offset,
                self.start,
                self.end + 1,
                Origin.PREFETCHED if self.prefetched else Origin.PRODUCED,
                ready=self.ready,
                slices=self.slices,
                eviction=self.eviction,
            ),
        )
