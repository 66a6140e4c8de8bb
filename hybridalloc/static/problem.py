"""Static allocation: one memory, known lifetimes, offsets to choose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from hybridalloc.program import MAX_BYTES

MOST_BYTES = 2**60
"""Of all buffers together, so that sums of their sizes fit an integer of 64 bits."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of a buffer's life in which it takes no space, or less: [start, end)."""

    start: int
    end: int
    window: tuple[int, int] | None = None
    """The bytes, from the buffer's offset, that it takes meanwhile; ``None``: none."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Bytes, from a buffer's offset, that it takes during [start, end)."""

    low: int
    high: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StaticBuffer:
    """What is to be placed: so many bytes during the half-open life [start, end)."""

    name: str
    """Unique within the problem."""
    size: int
    """Bytes."""
    start: int
    end: int
    alignment: int = 1
    """Its offset is a multiple of this many bytes."""
    gaps: tuple[Gap, ...] = ()
    """In order of time; none meets another."""
    offset: int | None = None
    """The only offset that it may have, if fixed."""
    hint: int | None = None
    """An offset to try first, if given."""

    def __post_init__(self) -> None:
        what = f"buffer {self.name}"
        if not 0 <= self.size < MAX_BYTES:
            raise ValueError(f"{what}: size {self.size} is not in [0, {MAX_BYTES})")
        if not -MAX_BYTES < self.start <= self.end < MAX_BYTES:
            raise ValueError(
                f"{what}: expected start <= end, got [{self.start}, {self.end})"
            )
        if not 1 <= self.alignment < MAX_BYTES:
            raise ValueError(f"{what}: alignment {self.alignment} is not >= 1")
        for name, value in (("offset", self.offset), ("hint", self.hint)):
            if value is not None and not 0 <= value < MAX_BYTES:
                raise ValueError(f"{what}: {name} {value} is not in [0, {MAX_BYTES})")
        self._check_gaps(what)

    def _check_gaps(self, what: str) -> None:
        for gap in self.gaps:
            if not self.start <= gap.start < gap.end <= self.end:
                raise ValueError(
                    f"{what}: gap {gap.start}-{gap.end} is not a part of its life "
                    f"[{self.start}, {self.end})"
                )
            low, high = gap.window or (0, 0)
            if not 0 <= low <= high <= self.size:
                raise ValueError(
                    f"{what}: window {low}:{high} is not within its {self.size} bytes"
                )
        for one, other in pairwise(self.gaps):
            if other.start < one.end:
                raise ValueError(
                    f"{what}: gap {other.start}-{other.end} begins before gap "
                    f"{one.start}-{one.end} ends"
                )

    @property
    def rectangles(self) -> tuple[Rectangle, ...]:
        """The space that it takes, in order of time; of no part is there nothing.

        >>> StaticBuffer("b", 8, 0, 9, gaps=(Gap(2, 4), Gap(4, 6, (1, 3)))).rectangles
        ... # doctest: +NORMALIZE_WHITESPACE
        (Rectangle(low=0, high=8, start=0, end=2),
         Rectangle(low=1, high=3, start=4, end=6),
         Rectangle(low=0, high=8, start=6, end=9))
        """
        parts, now = [], self.start
        for gap in self.gaps:
            parts.append(Rectangle(0, self.size, now, gap.start))
            parts.append(Rectangle(*(gap.window or (0, 0)), gap.start, gap.end))
            now = gap.end
        parts.append(Rectangle(0, self.size, now, self.end))
        return tuple(x for x in parts if x.low < x.high and x.start < x.end)


@dataclass(frozen=True)
class StaticProblem:
    """Buffers that all have to be in one memory during their lives."""

    name: str
    buffers: tuple[StaticBuffer, ...]
    capacity: int | None = None
    """Bytes of the memory; ``None``: as many as it takes."""
    reserved: tuple[tuple[int, int], ...] = ()
    """Half-open ranges of bytes that no buffer may touch."""

    def __post_init__(self) -> None:
        for low, high in self.reserved:
            if not 0 <= low < high < MAX_BYTES:
                raise ValueError(
                    f"reserved range [{low}, {high}), expected "
                    f"0 <= low < high < {MAX_BYTES}"
                )
        if self.capacity is not None and not 0 <= self.capacity < MAX_BYTES:
            raise ValueError(f"capacity {self.capacity} is not in [0, {MAX_BYTES})")
        if self._ample >= MOST_BYTES:
            raise ValueError(
                f"all buffers together may take {self._ample} bytes, "
                f"expected less than {MOST_BYTES}"
            )
        names = Counter(buffer.name for buffer in self.buffers)
        if len(names) < len(self.buffers):
            twice = names.most_common(1)[0][0]
            raise ValueError(f"two buffers are called {twice!r}")

    def __len__(self) -> int:
        return len(self.buffers)

    @property
    def room(self) -> int:
        """The capacity, or more than all buffers can take where none is given."""
        return self._ample if self.capacity is None else self.capacity

    @cached_property
    def _ample(self) -> int:
        """More bytes than all buffers can take, side by side and aligned."""
        fixed = [x.offset or 0 for x in self.buffers]
        highest = max([0, *fixed, *(high for _, high in self.reserved)])
        padded = sum(x.size + x.alignment for x in self.buffers)
        return highest + padded

    @cached_property
    def merged_ranges(self) -> tuple[tuple[int, int], ...]:
        """What is reserved, as ranges of which no two meet, the lowest first.

        >>> StaticProblem("p", (), reserved=((4, 8), (0, 2), (2, 3))).merged_ranges
        ((0, 3), (4, 8))
        """
        merged: list[tuple[int, int]] = []
        for low, high in sorted(self.reserved):
            if merged and low <= merged[-1][1]:
                low, last = merged.pop()
                high = max(high, last)
            merged.append((low, high))
        return tuple(merged)

    @cached_property
    def has_windows(self) -> bool:
        """Whether some buffer takes a part of its bytes for some of the time."""
        return any(gap.window for buffer in self.buffers for gap in buffer.gaps)
