"""Sizes and offsets in units, so that searches see small numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from hybridalloc.static.problem import StaticProblem


@dataclass(frozen=True, slots=True)
class Units:
    """A problem's numbers in units; what is said of them holds of bytes too."""

    unit: int
    """Bytes, of which each offset is a multiple."""
    sizes: tuple[int, ...]
    """Of each buffer, rounded up: where the next one can begin."""
    limits: tuple[int, ...]
    """Where each buffer, so rounded, ends at most, for its bytes to fit the memory."""


def units_for(problem: StaticProblem) -> Units:
    """The largest unit that loses no placement that cannot be moved down.

    Where all offsets are aligned, that may be more than sizes are multiples of.

    >>> from hybridalloc.static.problem import StaticBuffer
    >>> a, b = StaticBuffer("a", 5, 0, 3, 4), StaticBuffer("b", 8, 0, 3, 4)
    >>> units_for(StaticProblem("p", (a, b), capacity=13))
    Units(unit=4, sizes=(2, 2), limits=(4, 3))
    """
    unit, step = unit_of(problem), common_alignment(problem)
    if step % unit == 0:
        unit = step
    sizes = tuple(-(-x.size // unit) for x in problem.buffers)
    limits = tuple(
        (problem.room - buffer.size) // unit + size
        for buffer, size in zip(problem.buffers, sizes, strict=True)
    )
    return Units(unit, sizes, limits)


def common_alignment(problem: StaticProblem) -> int:
    """Bytes, of which the start of all that a buffer takes is a multiple."""
    if problem.has_windows:
        return 1
    return max(1, gcd(*(x.alignment for x in problem.buffers)))


def unit_of(problem: StaticProblem) -> int:
    """The bytes of which each offset of a canonical placement is a multiple.

    >>> from hybridalloc.static.problem import StaticBuffer
    >>> a, b = StaticBuffer("a", 48, 0, 3), StaticBuffer("b", 32, 0, 3, alignment=64)
    >>> unit_of(StaticProblem("p", (a, b))), unit_of(StaticProblem("p", (a,)))
    (16, 48)
    """
    sizes = [x.size for x in problem.buffers]
    sizes += [x.offset for x in problem.buffers if x.offset is not None]
    sizes += [byte for x in problem.reserved for byte in x]
    for buffer in problem.buffers:
        sizes += [byte for r in buffer.rectangles for byte in (r.low, r.high)]
    unit = max(1, gcd(*sizes))
    alignments = {x.alignment for x in problem.buffers}
    while any(unit % x for x in alignments if x % unit):
        unit = gcd(unit, *(x for x in alignments if unit % x and x % unit))
    return unit
