"""What a game holds in fast memory: stays, grown so far, with their allocations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hybridalloc.game.growth import Grown
from hybridalloc.memory_map import Allocation, Eviction
from hybridalloc.packing.space import Span


@dataclass(frozen=True, slots=True)
class Held:
    """A stay that has its place."""

    grown: Grown
    allocations: tuple[Allocation, ...]
    """One; or two of what the previous run has left, the second for the next run."""

    @property
    def head(self) -> Allocation:
        """The allocation that serves accesses."""
        return self.allocations[0]

    @property
    def offset(self) -> int:
        """Bytes."""
        assert self.head.offset is not None
        return self.head.offset

    @property
    def spans(self) -> tuple[Span, ...]:
        """When it needs its place."""
        return tuple((x.start, x.end) for x in self.allocations)

    def at(self, offset: int) -> Held:
        """The same at another offset, in bytes."""
        moved = tuple(replace(x, offset=offset) for x in self.allocations)
        return replace(self, allocations=moved)

    def evicted(self, due: int) -> Held:
        """The same, copied back to slow memory by a point."""
        head, issue = self.head, self.grown.stay.issue
        ended = replace(head, end=max(head.end, due), eviction=Eviction(issue, due))
        return replace(self, allocations=(ended, *self.allocations[1:]))

    def grown_to(self, longer: Grown) -> tuple[Held, Span] | None:
        """The same, grown, and when it needs its place besides.

        What the previous run left is held all the time if it grows up to the copy for
        the next run; not if other accesses came to be served by that.
        """
        head, end = self.head, longer.stay.end
        if len(self.allocations) == 1:
            return Held(longer, (replace(head, end=end),)), (head.end, end)
        tail = self.allocations[1]
        if end < tail.start:
            return Held(longer, (replace(head, end=end), tail)), (head.end, end)
        if not longer.is_last:
            return None
        return Held(longer, (replace(head, end=tail.end),)), (head.end, tail.start)


@dataclass(frozen=True, slots=True)
class Holding:
    """All stays that a game holds, or has held."""

    held: tuple[Held, ...] = ()
    live: Mapping[int, int] = field(default_factory=dict)
    """For each buffer that may stay on where it is: its stay's index."""

    def of(self, buffer: int) -> Held | None:
        """The stay in which a buffer is since its last access, if it is in any."""
        return self.held[self.live[buffer]] if buffer in self.live else None

    def others(self, buffer: int) -> tuple[Held, ...]:
        """All but the present stay of a buffer."""
        at = self.live[buffer]
        return (*self.held[:at], *self.held[at + 1 :])

    def with_changed(self, buffer: int, changed: Held) -> Holding:
        """The same, but for the present stay of a buffer."""
        at = self.live[buffer]
        return replace(self, held=(*self.held[:at], changed, *self.held[at + 1 :]))

    def with_new(self, one: Held) -> Holding:
        """The same, and one more."""
        live = {**self.live, one.head.buffer: len(self.held)}
        return Holding((*self.held, one), live)

    def without(self, buffer: int) -> Holding:
        """The same, but the present stay of a buffer does not go on."""
        live = {b: index for b, index in self.live.items() if b != buffer}
        return replace(self, live=live)


NOTHING_HELD = Holding()
