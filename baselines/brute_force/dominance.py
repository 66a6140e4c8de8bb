"""Choices that another choice of the same buffer is as good as, left out.

One choice is as good as another if it serves the same accesses, makes no copy that the
other doesn't, and fits wherever the other fits. In any map the one can then take the
other's place: its copies keep their places in the queues, and to wait for fewer of
them never takes longer, since whatever the queues no longer have to do leaves them
time for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from hybridalloc.baselines.brute_force.choices import Choice
from hybridalloc.baselines.brute_force.stays import span
from hybridalloc.memory_map import Allocation

PREFETCH, EVICTION = range(2)
Copy = tuple[int, int, int]
"""Queue, issue and due."""


def copies(allocation: Allocation) -> tuple[Copy, ...]:
    """The copies of an allocation that is not sliced."""
    found = []
    if allocation.has_copy:
        found.append((PREFETCH, allocation.start, allocation.ready))
    if allocation.eviction is not None:
        found.append((EVICTION, allocation.eviction.issue, allocation.eviction.due))
    return tuple(found)


@dataclass(frozen=True)
class Needs:
    """What a choice needs: copies, and fast memory in groups at one offset each."""

    choice: Choice

    @cached_property
    def copies(self) -> tuple[tuple[Copy, ...], ...]:
        """Those of each allocation that has any: they stand together in the list."""
        each = (copies(allocation) for allocation in self.choice.allocations)
        return tuple(sorted(found for found in each if found))

    @cached_property
    def held(self) -> tuple[int, ...]:
        """For each group, the instructions during which it is there, as a mask."""
        allocations = self.choice.allocations
        return tuple(
            sorted(
                sum(span(allocations[i].start, allocations[i].end) for i in group)
                for group in self.choice.groups
            )
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What decides how good a choice is."""
        crossing = self.choice.is_cross_program
        return self.choice.served, crossing, self.copies, self.held


def undominated(found: Iterable[Choice]) -> list[Choice]:
    """Of these choices of one buffer, those that no other is as good as."""
    needs = {needs.key: needs for needs in map(Needs, found)}
    ordered = sorted(needs.values(), key=_demand)
    kept: dict[int, list[Needs]] = {}
    for one in ordered:
        rivals = kept.setdefault(one.choice.served, [])
        if not any(_as_good(rival, one) for rival in rivals):
            rivals.append(one)
    return [needs.choice for rivals in kept.values() for needs in rivals]


def _demand(needs: Needs) -> tuple[bool, int, int, int]:
    """What is as good as another never demands more than it by this measure."""
    count = sum(map(len, needs.copies))
    held = sum(mask.bit_count() for mask in needs.held)
    return needs.choice.is_cross_program, count, held, len(needs.held)


def _as_good(one: Needs, other: Needs) -> bool:
    if one.choice.is_cross_program > other.choice.is_cross_program:
        return False
    return _is_part(one.copies, other.copies) and _fits_in(one.held, other.held)


def _is_part(
    one: Sequence[tuple[Copy, ...]], other: Sequence[tuple[Copy, ...]]
) -> bool:
    """Whether each allocation's copies are among those of one of the other's."""
    if len(one) > len(other):
        return False
    return any(
        all(set(a) <= set(b) for a, b in zip(one, order, strict=True))
        for order in permutations(other, len(one))
    )


def _fits_in(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether each group finds room in one of the other's, beside those there."""
    if not one:
        return True
    first, rest = one[0], one[1:]
    for i, room in enumerate(other):
        if first & ~room == 0:
            left = (*other[:i], room & ~first, *other[i + 1 :])
            if _fits_in(rest, left):
                return True
    return False
