"""Choices that another choice of the same buffer is as good as, left out.

One choice is as good as another if it serves the same accesses, makes no copy that the
other doesn't, and fits wherever the other fits. In any map the one can then take the
other's place: its copies keep their places in the queues, and to wait for fewer of
them never takes longer, since whatever the queues no longer have to do leaves them
time for the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from operator import or_

from hybridalloc.baselines.brute_force.choice import Choice, Copy, copies

POINTS = 1 << 5
"""More points than there are in any problem that is searched."""


class Needs:
    """What a choice needs: copies, and fast memory in groups at one offset each."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.crosses = choice.is_cross_program
        each = (sum(map(_bit, copies(allocation))) for allocation in choice.allocations)
        self.copied = tuple(sorted(filter(None, each)))
        """The copies of each allocation that has any, as masks."""
        self._all_copied = reduce(or_, self.copied, 0)
        self.held = tuple(sorted(map(choice.held, choice.groups)))
        """For each group, the instructions during which it is there, as a mask."""

    @property
    def order(self) -> tuple[bool, int, int, int]:
        """What is as good as another doesn't come after it by this."""
        count = sum(mask.bit_count() for mask in self.copied)
        held = sum(mask.bit_count() for mask in self.held)
        return self.crosses, count, held, len(self.held)

    def is_as_good(self, other: Needs) -> bool:
        """Whether it can take the place of another that serves the same accesses."""
        if self.crosses > other.crosses or self._all_copied & ~other._all_copied:
            return False
        return _fit(self.copied, other.copied) and _fit(self.held, other.held)


class Undominated:
    """Collects choices for one buffer that none before them is as good as."""

    def __init__(self) -> None:
        self._kept: dict[int, list[Needs]] = defaultdict(list)

    @property
    def choices(self) -> list[Choice]:
        """What was collected."""
        return [needs.choice for kept in self._kept.values() for needs in kept]

    def lacks(self, needs: Needs) -> bool:
        """Whether nothing that was collected is as good."""
        kept = self._kept[needs.choice.served]
        return not any(rival.is_as_good(needs) for rival in kept)

    def add(self, choice: Choice) -> None:
        """Collect a choice, unless something is as good."""
        needs = Needs(choice)
        if self.lacks(needs):
            self._kept[choice.served].append(needs)


def _bit(copy: Copy) -> int:
    """A bit for each copy that there may be."""
    queue, issue, due = copy
    return 1 << ((queue * POINTS + issue) * POINTS + due)


def _fit(parts: Sequence[int], rooms: Sequence[int]) -> bool:
    """Whether each mask finds room in one of the others, beside those there.

    Two copies of one allocation need not stand together in a map's list if they are
    of two; so what one choice copies together the other has to copy together.
    """
    if not parts:
        return True
    first, rest = parts[0], parts[1:]
    for i, room in enumerate(rooms):
        if not first & ~room:
            left = (*rooms[:i], room & ~first, *rooms[i + 1 :])
            if _fit(rest, left):
                return True
    return False
