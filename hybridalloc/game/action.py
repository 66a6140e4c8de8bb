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
    NO_COPY_HIGH = 3
    """NO_COPY of a whole write, but at the high end (``GameConfig.sides``)."""
    COPY_HIGH = 4
    """COPY, but to the high end (``GameConfig.sides``)."""

    @property
    def kind(self) -> Action:
        """The one of the paper's three of which this is a variant."""
        return Action(self % 3)

    @property
    def is_high(self) -> bool:
        """Whether a new stay goes to the high end, not where it fits best."""
        return self > Action.DROP
