"""The actions of the game: where one access is served (the paper's three)."""

from __future__ import annotations

from enum import IntEnum


class Action(IntEnum):
    """What to do with one access (Optimizing Memory Mapping, section 3)."""

    NO_COPY = 0
    """In fast memory without a copy: a whole write allocates its buffer here, any other
    access keeps the buffer where it is since its last access."""
    COPY = 1
    """In fast memory, copied there from slow memory just in time."""
    DROP = 2
    """Served from slow memory; what only fast memory knows is copied back before."""


INSTEAD = ((0, 1, 2), (1, 0, 2), (2, 0, 1))
"""For each action, what is taken for it: the first of these that is legal."""
