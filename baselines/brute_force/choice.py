"""What may be chosen for one buffer."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.memory_map import Allocation, Origin

PREFETCH, EVICTION = range(2)
"""The queues."""
Copy = tuple[int, int, int]
"""Queue, issue and due."""
Groups = tuple[tuple[int, ...], ...]
"""Which allocations, by index, share an offset."""


def span(start: int, end: int) -> int:
    """The instructions [start, end) as a mask, with a bit for each."""
    return (1 << end) - (1 << start)


@dataclass(frozen=True, slots=True)
class Choice:
    """The allocations of one buffer, all without offsets."""

    allocations: tuple[Allocation, ...]
    served: int
    """The instructions whose access fast memory serves, as a mask."""
    groups: Groups
    """Allocations of one group lie at one offset, those of two groups anywhere."""

    def held(self, group: tuple[int, ...]) -> int:
        """The instructions during which one of a group is there, as a mask."""
        held = 0
        for i in group:
            held |= span(self.allocations[i].start, self.allocations[i].end)
        return held

    @property
    def is_cross_program(self) -> bool:
        """Whether it takes up a cross-program prefetch."""
        return any(x.origin is Origin.CROSS_PROGRAM for x in self.allocations)


def copies(allocation: Allocation) -> tuple[Copy, ...]:
    """The copies of an allocation that is not sliced."""
    found = []
    if allocation.has_copy:
        found.append((PREFETCH, allocation.start, allocation.ready))
    if allocation.eviction is not None:
        found.append((EVICTION, allocation.eviction.issue, allocation.eviction.due))
    return tuple(found)
