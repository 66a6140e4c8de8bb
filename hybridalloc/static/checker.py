"""The checker of placements: obvious, and it shares no code with any solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.static.problem import StaticProblem


@dataclass(frozen=True, slots=True)
class StaticViolation:
    """A rule that a placement breaks."""

    rule: str
    """``count``, ``fixed``, ``range``, ``alignment``, ``reserved`` or ``overlap``."""
    message: str
    """What breaks it, with the numbers."""


def check_offsets(
    problem: StaticProblem, offsets: Sequence[int]
) -> tuple[StaticViolation, ...]:
    """All rules that a placement breaks.

    Args:
        problem: What is placed.
        offsets: For each buffer, in bytes.

    >>> from hybridalloc.static.problem import StaticBuffer
    >>> a, b = StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 2, 2, 5)
    >>> problem = StaticProblem("p", (a, b), capacity=6)
    >>> check_offsets(problem, [0, 4])
    ()
    >>> [x.message for x in check_offsets(problem, [0, 3])]
    ['a takes bytes [0, 4) and b takes [3, 5), both from instant 2']
    """
    if len(offsets) != len(problem):
        message = f"{len(offsets)} offsets for {len(problem)} buffers"
        return (StaticViolation("count", message),)
    return (*_one_by_one(problem, offsets), *_overlaps(problem, offsets))


def _one_by_one(
    problem: StaticProblem, offsets: Sequence[int]
) -> Iterator[StaticViolation]:
    for buffer, offset in zip(problem.buffers, offsets, strict=True):
        what, end = f"{buffer.name} at {offset}", offset + buffer.size
        if buffer.offset is not None and offset != buffer.offset:
            yield StaticViolation("fixed", f"{what}: fixed at {buffer.offset}")
        if offset < 0:
            yield StaticViolation("range", f"{what}: negative")
        if problem.capacity is not None and end > problem.capacity:
            message = f"{what} ends at {end}, past the capacity {problem.capacity}"
            yield StaticViolation("range", message)
        if offset % buffer.alignment:
            message = f"{what}: not a multiple of {buffer.alignment}"
            yield StaticViolation("alignment", message)
        for low, high in problem.reserved:
            for part in buffer.rectangles:
                if offset + part.low < high and low < offset + part.high:
                    message = f"{what} takes bytes of the reserved [{low}, {high})"
                    yield StaticViolation("reserved", message)
                    break


def _overlaps(
    problem: StaticProblem, offsets: Sequence[int]
) -> Iterator[StaticViolation]:
    """Each two rectangles of which one starts while the other is there are compared."""
    rows = [
        (part.start, part.end, offset + part.low, offset + part.high, index)
        for index, offset in enumerate(offsets)
        for part in problem.buffers[index].rectangles
    ]
    rows.sort()
    start, end, low, high, owner = np.array(rows, np.int64).reshape(-1, 5).T
    last = np.searchsorted(start, end, side="left")
    for i in range(len(rows)):
        others = slice(i + 1, last[i])
        meets = (low[others] < high[i]) & (low[i] < high[others])
        for j in (np.flatnonzero(meets) + i + 1).tolist():
            one, other = (problem.buffers[owner[k]].name for k in (i, j))
            message = (
                f"{one} takes bytes [{low[i]}, {high[i]}) and {other} takes "
                f"[{low[j]}, {high[j]}), both from instant {start[j]}"
            )
            yield StaticViolation("overlap", message)
