"""Where there is room in fast memory, in units of its alignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybridalloc.game.held import Held
from hybridalloc.packing.space import Span
from hybridalloc.problem import Problem

Box = tuple[int, int, int, int]
"""First unit, last unit + 1, start, end."""


class Room:
    """The fast memory of a problem: its size, and what nobody may take."""

    def __init__(self, problem: Problem) -> None:
        self._program, fast = problem.program, problem.target.fast
        self._alignment = fast.alignment
        self._units = problem.target.capacity // fast.alignment
        self._scratch = [
            self._count(x.scratch_bytes) for x in problem.program.instructions
        ]
        self._reserved = [
            (low // fast.alignment, self._count(high)) for low, high in fast.reserved
        ]

    def box(self, held: Held, span: Span) -> Box:
        """What a stay takes at some time."""
        first, size = held.offset // self._alignment, self.size(held.head.buffer)
        return (first, first + size, *span)

    def size(self, buffer: int) -> int:
        """The units of a buffer."""
        return self._count(self._program.buffers[buffer].size)

    def fit(
        self, buffer: int, spans: Sequence[Span], taken: Iterable[Box], is_high: bool
    ) -> int | None:
        """An offset with room at all these times, in bytes.

        It is the low end of the smallest gap, or the high end of the highest.

        Args:
            buffer: What is to be placed.
            spans: When it needs its place.
            taken: What is taken by others.
            is_high: Which.
        """
        least, most = self._limits(buffer, spans)
        blocked = sorted(self._blocked(buffer, spans, taken))
        found, smallest, base = None, most + 2, least
        for first, end in [*blocked, (most + 1, most + 1)]:
            gap = min(first, most + 1) - base
            if gap > 0 and (is_high or gap < smallest):
                found, smallest = base + (gap - 1 if is_high else 0), gap
            base = max(base, end)
        return None if found is None else found * self._alignment

    def is_free(
        self, buffer: int, offset: int, spans: Sequence[Span], taken: Iterable[Box]
    ) -> bool:
        """Whether a buffer has room at an offset at all these times."""
        least, most = self._limits(buffer, spans)
        base = offset // self._alignment
        return least <= base <= most and not any(
            low <= base < high for low, high in self._blocked(buffer, spans, taken)
        )

    def _limits(self, buffer: int, spans: Sequence[Span]) -> tuple[int, int]:
        """The first and the last unit at which it may begin."""
        scratch = (self._scratch[t] for start, end in spans for t in range(start, end))
        least, most = max(scratch, default=0), self._units - self.size(buffer)
        fixed = self._program.buffers[buffer].offset
        if fixed is None:
            return least, most
        if fixed % self._alignment:
            return 0, -1
        at = fixed // self._alignment
        return max(least, at), min(most, at)

    def _blocked(
        self, buffer: int, spans: Sequence[Span], taken: Iterable[Box]
    ) -> list[tuple[int, int]]:
        """The units at which it cannot begin, as half-open ranges."""
        size = self.size(buffer)
        ranges = [
            (low, high)
            for low, high, start, end in taken
            if any(start < until and since < end for since, until in spans)
        ]
        return [(low - size + 1, high) for low, high in (*ranges, *self._reserved)]

    def _count(self, size: int) -> int:
        return -(-size // self._alignment)
