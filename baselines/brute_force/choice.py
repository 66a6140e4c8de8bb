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


@dataclass(frozen=True, slots=True)
class Choice:
    """The allocations of one buffer, all without offsets."""

    allocations: tuple[Allocation, ...]
    served: int
    """The instructions whose access fast memory serves, as a mask."""
    groups: Groups
    """Allocations of one group lie at one offset, those of two groups anywhere."""

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
