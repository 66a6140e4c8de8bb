"""The inner loop of first and best fit, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.jit import compiled
from hybridalloc.packing.gaps import Taken, met, put
from hybridalloc.packing.kernel import NOWHERE, choose, fix


class Shapes(NamedTuple):
    """What is to be placed, as arrays."""

    sizes: Ints
    """(n,): bytes."""
    alignments: Ints
    """(n,): bytes."""
    fixed: Ints
    """(n,): the only offset, or -1."""
    wished: Ints
    """(n,): the offset to try first, or -1."""
    first: Ints
    """(n + 1,): the first part of each."""
    parts: Ints
    """(parts, 4): first byte, last byte + 1, both from the offset, start, end."""


@compiled
def place_some(
    order: Ints,
    shapes: Shapes,
    taken: Taken,
    capacity: int,
    best: bool,
    offsets: Ints,
) -> bool:
    """Place some buffers one by one, until one finds no place.

    Args:
        order: The first to be placed first.
        shapes: All buffers.
        taken: What is taken; takes their parts, under the parts' numbers.
        capacity: Bytes.
        best: Whether the smallest gap is taken, or the lowest.
        offsets: (n,): takes offsets in bytes.

    Returns:
        Whether all found a place.
    """
    for buffer in order:
        least, most = 0, capacity - shapes.sizes[buffer]
        alignment = shapes.alignments[buffer]
        if shapes.fixed[buffer] != NOWHERE:
            least, most = fix(shapes.fixed[buffer], least, most, alignment)
        ranges = _forbidden(buffer, shapes, taken)
        base = NOWHERE
        if shapes.wished[buffer] != NOWHERE:
            first, last = fix(shapes.wished[buffer], least, most, alignment)
            base = choose(ranges, first, last, alignment, best)
        if base == NOWHERE:
            base = choose(ranges, least, most, alignment, best)
        if base == NOWHERE:
            return False
        offsets[buffer] = base
        for i in range(shapes.first[buffer], shapes.first[buffer + 1]):
            low, high, start, end = shapes.parts[i]
            put(taken, i, base + low, base + high, start, end)
    return True


@compiled
def _forbidden(buffer: int, shapes: Shapes, taken: Taken) -> Ints:
    """(2, ranges): the offsets that a buffer cannot have, by their first."""
    parts = shapes.parts[shapes.first[buffer] : shapes.first[buffer + 1]]
    ranges = np.empty((2, 0), np.int64)
    for i in range(len(parts)):
        low, high = parts[i, 0], parts[i, 1]
        there = met(taken, parts[i : i + 1, 2:])
        more = np.empty((2, ranges.shape[1] + len(there)), np.int64)
        more[:, : ranges.shape[1]] = ranges
        for j in range(len(there)):
            more[0, ranges.shape[1] + j] = taken.rectangles[0, there[j]] - high
            more[1, ranges.shape[1] + j] = taken.rectangles[1, there[j]] - low
        ranges = more
    order = np.argsort(ranges[0])
    for row in range(2):
        ranges[row] = ranges[row][order]
    return ranges
