"""Fast memory in time: which bytes are taken during which instructions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.memory_map import Rectangle
from hybridalloc.packing.gaps import (
    doubled,
    first_taken,
    free,
    met,
    nothing,
    put,
    take_out,
)
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer

Span = tuple[int, int]
"""Half-open range of instructions."""


Owner = TypeVar("Owner")


class Space(Generic[Owner]):
    """The rectangles (bytes x instructions) that are taken, and the gaps they leave."""

    def __init__(self, problem: Problem) -> None:
        self._capacity = problem.target.capacity
        self._alignment = problem.target.fast.alignment
        self._reserved = list(problem.target.fast.reserved)
        instructions = problem.program.instructions
        self._scratch = np.array([i.scratch_bytes for i in instructions], np.int64)
        self._has_scratch = bool(self._scratch.any())
        self._used: Ints = self._scratch.copy()
        self._taken = nothing(len(instructions), 64)
        self._values: Floats = np.zeros(64)
        self._owners: list[Owner | None] = []
        self._numbers: dict[Owner, list[int]] = defaultdict(list)
        self._unused: list[int] = []

    @property
    def _count(self) -> int:
        return len(self._owners)

    def may_fit(self, buffer: Buffer, span: Span) -> bool:
        """Whether enough bytes are free at each time of a span, at whatever offset."""
        most = self._used[span[0] : span[1]].max(initial=0)
        return bool(most + buffer.size <= self._capacity)

    def best_fit(self, buffer: Buffer, spans: Sequence[Span]) -> int | None:
        """The offset in the smallest gap that holds the buffer; the lowest, if tied.

        Args:
            buffer: What to place; its fixed offset is kept.
            spans: The instructions during which the gap must be free.

        Returns:
            Bytes, or ``None`` if there is no gap.
        """
        if not all(self.may_fit(buffer, span) for span in spans):
            return None
        gaps = self.gaps(buffer, spans)
        return min(gaps, key=lambda gap: (gap[1] - gap[0], gap[0]))[0] if gaps else None

    def gaps(self, buffer: Buffer, spans: Sequence[Span]) -> list[tuple[int, int]]:
        """The gaps that hold the buffer during these spans.

        Args:
            buffer: What to place; a fixed offset is the only one that will do.
            spans: The instructions during which the gaps must be free.

        Returns:
            For each, its first aligned byte and the byte at which it ends.
        """
        size = max(buffer.size, 1)
        gaps = free(
            self._taken,
            _as_array(spans),
            self._fixed(spans),
            self._capacity,
            self._alignment,
            size,
        ).tolist()
        if buffer.offset is None:
            return [(begin, stop) for begin, stop in gaps]
        if buffer.offset % self._alignment:
            return []
        last = buffer.offset + size
        around = (stop for begin, stop in gaps if begin <= buffer.offset)
        return [(buffer.offset, stop) for stop in around if last <= stop]

    def free_until(self, low: int, high: int, start: int, end: int) -> int:
        """The first instruction of a span during which any of these bytes are taken.

        Args:
            low: The first byte.
            high: The last byte + 1.
            start: The first instruction of the span.
            end: The instruction after its last.

        Returns:
            The instruction; ``end`` if all of the bytes are free until then.
        """
        if any(first < high and low < last for first, last in self._reserved):
            return start
        until = first_taken(self._taken, low, high, start, end)
        with_scratch = self._scratch[start:until] > low
        return start + int(np.argmax(with_scratch)) if with_scratch.any() else until

    def cheapest(self, buffer: Buffer, spans: Sequence[Span]) -> list[Owner]:
        """The owners of least value that leave a gap for the buffer if they give way.

        Args:
            buffer: What to make room for.
            spans: The instructions during which it needs the room.

        Returns:
            No owners if there is a gap already, or cannot be any.
        """
        numbers = met(self._taken, _as_array(spans))
        lows, highs = self._taken.rectangles[:2, numbers]
        fixed = self._fixed(spans)
        offsets = self._offsets(buffer, np.append(highs, fixed[:, 1]))
        for low, high in fixed.tolist():
            offsets = offsets[(offsets >= high) | (offsets + buffer.size <= low)]
        if not len(offsets):
            return []
        values = self._values[numbers]
        below = _sum_up_to(highs, values, offsets)
        above = _sum_up_to(-lows, values, -offsets - buffer.size)
        offset = offsets[int(np.argmin(-below - above))]
        there = (lows < offset + buffer.size) & (highs > offset)
        owners = [self._owners[number] for number in numbers[there].tolist()]
        return [x for x in dict.fromkeys(owners) if x is not None]

    def _offsets(self, buffer: Buffer, ends: Ints) -> Ints:
        """The fixed offset, or those just above the end of something; within capacity.

        These suffice: a buffer elsewhere meets no more if it moves down to the next.
        With no scratch, the bottom of fast memory is the end of no bytes.
        """
        unit, most = self._alignment, self._capacity - buffer.size
        offsets = -(-ends // unit) * unit
        if buffer.offset is not None:
            offsets = np.full(1, buffer.offset)
        within = (offsets >= 0) & (offsets <= most) & (offsets % unit == 0)
        return np.unique(offsets[within])

    def _fixed(self, spans: Sequence[Span]) -> Ints:
        """The ranges of bytes, (low, high), that nothing may take in the spans."""
        scratch = 0
        if self._has_scratch:
            scratch = max(int(self._scratch[i:j].max(initial=0)) for i, j in spans)
        return np.array([(0, scratch), *self._reserved], np.int64)

    def take(self, owner: Owner, rectangle: Rectangle, value: float = 0.0) -> None:
        """Take a rectangle, which must be free.

        Args:
            owner: Whose it is.
            rectangle: What to take.
            value: What it is worth; whatever ``cheapest`` is to compare.
        """
        number = self._unused.pop() if self._unused else self._new()
        self._owners[number] = owner
        self._numbers[owner].append(number)
        self._values[number] = value
        put(self._taken, number, *rectangle)
        low, high, start, end = rectangle
        self._used[start:end] += high - low

    def _new(self) -> int:
        if self._count == len(self._values):
            self._taken = doubled(self._taken)
            self._values = np.concatenate((self._values, self._values))
        self._owners.append(None)
        return self._count - 1

    def give_back(self, owner: Owner) -> None:
        """Free all rectangles of an owner."""
        for number in self._numbers.pop(owner):
            low, high, start, end = self._taken.rectangles[:, number].tolist()
            self._used[start:end] -= high - low
            take_out(self._taken, number)
            self._owners[number] = None
            self._unused.append(number)


def _as_array(spans: Sequence[Span]) -> Ints:
    return np.array(spans, np.int64).reshape(-1, 2)


def _sum_up_to(keys: Ints, values: Floats, limits: Ints) -> Floats:
    """For each limit, the sum of the values whose key is at most that."""
    order = np.argsort(keys, kind="stable")
    sums = np.concatenate(([0.0], np.cumsum(values[order])))
    return sums[np.searchsorted(keys[order], limits, side="right")]
