"""Where there is room in fast memory, in units of its alignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybridalloc.game.held import Held
from hybridalloc.packing.space import Span
from hybridalloc.problem import Problem

Range = tuple[int, int]
"""Half-open, in units."""
Box = tuple[int, int, int, int]
"""First unit, last unit + 1, start, end."""


class Room:
    """The fast memory of a problem: its size, and what nobody may take."""

    def __init__(self, problem: Problem) -> None:
        self._program, fast = problem.program, problem.target.fast
        self.unit = fast.alignment
        """Bytes."""
        self._units = problem.target.capacity // fast.alignment
        self._scratch = [
            self._count(x.scratch_bytes) for x in problem.program.instructions
        ]
        self._reserved = [
            (low // fast.alignment, self._count(high)) for low, high in fast.reserved
        ]

    def box(self, held: Held, span: Span) -> Box:
        """What a stay takes at some time."""
        first, size = held.offset // self.unit, self.size(held.head.buffer)
        return (first, first + size, *span)

    def boxes(self, held: Iterable[Held]) -> list[Box]:
        """What stays take."""
        return [self.box(x, span) for x in held for span in x.spans]

    def size(self, buffer: int) -> int:
        """The units of a buffer."""
        return self._count(self._program.buffers[buffer].size)

    def best_fit(
        self, buffer: int, spans: Sequence[Span], taken: Iterable[Box]
    ) -> int | None:
        """The low end of the smallest gap with room at all these times, in units.

        Args:
            buffer: What is to be placed.
            spans: When it needs its place.
            taken: What is taken by others.
        """
        least, most = self.limits(buffer, spans)
        blocked = sorted(self.blocked(buffer, spans, taken))
        found, smallest, base = None, most + 2, least
        for first, end in [*blocked, (most + 1, most + 1)]:
            gap = min(first, most + 1) - base
            if 0 < gap < smallest:
                found, smallest = base, gap
            base = max(base, end)
        return found

    def is_free(
        self, buffer: int, unit: int, spans: Sequence[Span], taken: Iterable[Box]
    ) -> bool:
        """Whether a buffer may begin at a unit at all these times."""
        least, most = self.limits(buffer, spans)
        return least <= unit <= most and not any(
            low <= unit < high for low, high in self.blocked(buffer, spans, taken)
        )

    def limits(self, buffer: int, spans: Sequence[Span]) -> tuple[int, int]:
        """The first and the last unit at which a buffer may begin."""
        scratch = (self._scratch[t] for start, end in spans for t in range(start, end))
        least, most = max(scratch, default=0), self._units - self.size(buffer)
        fixed = self._program.buffers[buffer].offset
        if fixed is None:
            return least, most
        return max(least, fixed // self.unit), min(most, fixed // self.unit)

    def blocked(
        self, buffer: int, spans: Sequence[Span], taken: Iterable[Box]
    ) -> list[Range]:
        """Where a buffer cannot begin, for what is taken at these times or reserved."""
        return [
            *self.blocked_by(buffer, spans, taken),
            *self.blocked_always(buffer),
        ]

    def blocked_by(
        self, buffer: int, spans: Sequence[Span], taken: Iterable[Box]
    ) -> list[Range]:
        """Where a buffer cannot begin, for what is taken at these times."""
        size = self.size(buffer)
        return [
            (low - size + 1, high)
            for low, high, start, end in taken
            if any(start < until and since < end for since, until in spans)
        ]

    def blocked_always(self, buffer: int) -> list[Range]:
        """Where a buffer cannot begin, for what is reserved."""
        size = self.size(buffer)
        return [(low - size + 1, high) for low, high in self._reserved]

    def _count(self, size: int) -> int:
        return -(-size // self.unit)
