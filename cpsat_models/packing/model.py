"""The model: an offset for each buffer, and no two in the same bytes at one time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ortools.sat.python import cp_model

from hybridalloc.static.problem import StaticBuffer

DENSE = 0.5
"""Where a larger part of all offsets is canonical, leaving the others out is no use."""


class PackingModel:
    """Buffers that are live around one time, in a memory of so many units."""

    def __init__(
        self, buffers: Sequence[StaticBuffer], unit: int, capacity: int
    ) -> None:
        """Build the model.

        Args:
            buffers: Each takes space at some time.
            unit: Bytes, of which every size and every fixed offset is a multiple.
            capacity: In units.
        """
        self.model = cp_model.CpModel()
        self._buffers, self._unit, self._capacity = buffers, unit, capacity
        canonical = canonical_offsets(buffers, unit, capacity)
        self.offsets = [self._offset(x, canonical) for x in buffers]
        """In units."""
        self.no_overlap()
        self.fits_load()
        self.twins_in_order()
        self.hints()

    def _offset(self, buffer: StaticBuffer, canonical: list[int] | None) -> Any:
        """The offset of a buffer, in units: a variable, or a multiple of one."""
        top = self._capacity - buffer.size // self._unit
        if buffer.offset is not None:
            return self.model.new_constant(buffer.offset // self._unit)
        step = max(1, buffer.alignment // self._unit)
        if canonical is not None:
            values = [x for x in canonical if x <= top]
            domain = cp_model.Domain.from_values(values)
            return self.model.new_int_var_from_domain(domain, buffer.name)
        steps = self.model.new_int_var(0, top // step, buffer.name)
        return step * steps if step > 1 else steps

    def no_overlap(self) -> None:
        """No two rectangles of time and bytes meet."""
        times, bytes_ = [], []
        for buffer, offset in zip(self._buffers, self.offsets, strict=True):
            for r in buffer.rectangles:
                low, high = r.low // self._unit, r.high // self._unit
                times.append(
                    self.model.new_fixed_size_interval_var(r.start, r.end - r.start, "")
                )
                bytes_.append(
                    self.model.new_fixed_size_interval_var(offset + low, high - low, "")
                )
        self.model.add_no_overlap_2d(times, bytes_)

    def fits_load(self) -> None:
        """What crosses any byte at a time is one buffer: seen from the side of bytes.

        At each byte, the buffers there have no more time than there is.
        """
        start = min(x.start for x in self._buffers)
        end = max(x.end for x in self._buffers)
        intervals, demands = [], []
        for buffer, offset in zip(self._buffers, self.offsets, strict=True):
            for r in buffer.rectangles:
                low, high = r.low // self._unit, r.high // self._unit
                intervals.append(
                    self.model.new_fixed_size_interval_var(offset + low, high - low, "")
                )
                demands.append(r.end - r.start)
        self.model.add_cumulative(intervals, demands, end - start)

    def twins_in_order(self) -> None:
        """Of buffers that differ in nothing but names, the first is the lowest."""
        twins = defaultdict(list)
        for buffer, offset in zip(self._buffers, self.offsets, strict=True):
            if buffer.offset is None:
                alike = (buffer.size, buffer.start, buffer.end, buffer.gaps)
                twins[*alike, buffer.alignment].append(offset)
        for same in twins.values():
            for lower, upper in pairwise(same):
                self.model.add(lower <= upper)

    def hints(self) -> None:
        """Offsets to try first, where they are given and possible."""
        for buffer, offset in zip(self._buffers, self.offsets, strict=True):
            is_plain = isinstance(offset, cp_model.IntVar)
            if is_plain and buffer.offset is None and buffer.hint is not None:
                self.model.add_hint(offset, buffer.hint // self._unit)


def canonical_offsets(
    buffers: Sequence[StaticBuffer], unit: int, capacity: int
) -> list[int] | None:
    """The offsets of placements in which nothing can be moved down.

    Each buffer is at the bottom or rests on another, so it is at a sum of sizes, or at
    such a sum above a fixed one.

    Returns:
        In units; ``None`` where that says too little, or something else decides.

    >>> pair = [StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 5, 2, 5)]
    >>> canonical_offsets(pair, 1, 20)
    [0, 4, 5, 9]
    """
    if any(x.alignment > unit or x.gaps for x in buffers):
        return None
    mask = (1 << (capacity + 1)) - 1
    fixed = [x.offset // unit for x in buffers if x.offset is not None]
    reached = 1 | sum(1 << x for x in set(fixed))
    for buffer in buffers:
        reached |= (reached << buffer.size // unit) & mask
    if reached.bit_count() > DENSE * (capacity + 1):
        return None
    return [i for i in range(capacity + 1) if reached >> i & 1]
