"""The model: an offset for each buffer, and no two in the same bytes at one time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ortools.sat.python import cp_model

from hybridalloc.static.problem import Rectangle, StaticProblem
from hybridalloc.static.units import Units, units_for

MOST = 10**6
"""In a larger memory, in units, they would be too many to look for."""
DENSE = 0.5
"""Where a larger part of all offsets is canonical, leaving the others out is no use."""


class PackingModel:
    """Buffers that are live around one time, in a memory of so many units."""

    def __init__(self, problem: StaticProblem) -> None:
        """Build the model.

        Args:
            problem: Each of its buffers takes space at some time.
        """
        self.model = cp_model.CpModel()
        self._buffers = problem.buffers
        self.units = units_for(problem)
        canonical = canonical_offsets(problem, self.units)
        self.offsets = [self._offset(i, canonical) for i in range(len(problem))]
        """In units."""
        self.no_overlap()
        self.fits_time()
        self.twins_in_order()
        self.hints()

    def _offset(self, index: int, canonical: list[int] | None) -> Any:
        """The offset of a buffer, in units: a variable, or a multiple of one."""
        buffer, unit = self._buffers[index], self.units.unit
        if buffer.offset is not None:
            return self.model.new_constant(buffer.offset // unit)
        top = self.units.limits[index] - self.units.sizes[index]
        step = max(1, buffer.alignment // unit)
        if canonical is not None:
            values = [x for x in canonical if x <= top]
            domain = cp_model.Domain.from_values(values)
            return self.model.new_int_var_from_domain(domain, buffer.name)
        steps = self.model.new_int_var(0, top // step, buffer.name)
        return step * steps if step > 1 else steps

    def _bytes(self, part: Rectangle, offset: Any) -> Any:
        """The units that a part of a buffer takes."""
        low, high = part.low // self.units.unit, -(-part.high // self.units.unit)
        return self.model.new_fixed_size_interval_var(offset + low, high - low, "")

    def _parts(self) -> Iterator[tuple[Rectangle, Any]]:
        """All rectangles, each with the offset that it is relative to."""
        for buffer, offset in zip(self._buffers, self.offsets, strict=True):
            for part in buffer.rectangles:
                yield part, offset

    def no_overlap(self) -> None:
        """No two rectangles of time and bytes meet."""
        times, bytes_ = [], []
        for part, offset in self._parts():
            length = part.end - part.start
            times.append(self.model.new_fixed_size_interval_var(part.start, length, ""))
            bytes_.append(self._bytes(part, offset))
        self.model.add_no_overlap_2d(times, bytes_)

    def fits_time(self) -> None:
        """At each byte, what is there takes no more time than there is."""
        start = min(x.start for x in self._buffers)
        end = max(x.end for x in self._buffers)
        parts = list(self._parts())
        lengths = [part.end - part.start for part, _ in parts]
        intervals = [self._bytes(part, offset) for part, offset in parts]
        self.model.add_cumulative(intervals, lengths, end - start)

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
                self.model.add_hint(offset, buffer.hint // self.units.unit)


def canonical_offsets(problem: StaticProblem, units: Units) -> list[int] | None:
    """The offsets of placements in which nothing can be moved down.

    Each buffer is at the bottom or rests on another, so it is at a sum of sizes, or at
    such a sum above a fixed one.

    Returns:
        In units; ``None`` where that says too little, or something else decides.

    >>> from hybridalloc.static.problem import StaticBuffer
    >>> pair = StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 5, 2, 5)
    >>> problem = StaticProblem("p", pair, capacity=20)
    >>> canonical_offsets(problem, units_for(problem))
    [0, 4, 5, 9]
    """
    buffers, capacity = problem.buffers, max(units.limits, default=0)
    is_aligned = any(x.alignment > units.unit for x in buffers)
    if capacity > MOST or is_aligned or any(x.gaps for x in buffers):
        return None
    mask = (1 << (capacity + 1)) - 1
    fixed = {x.offset // units.unit for x in buffers if x.offset is not None}
    reached = sum(1 << x for x in fixed | {0})
    for size in units.sizes:
        reached |= (reached << size) & mask
    if reached.bit_count() > DENSE * (capacity + 1):
        return None
    return [i for i in range(capacity + 1) if reached >> i & 1]
