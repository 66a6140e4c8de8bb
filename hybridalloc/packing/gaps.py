"""The inner loops of the space that is taken, compiled."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.simulator.jit import compiled


@compiled
def met(taken: Ints, count: int, spans: Ints) -> Ints:
    """The rectangles that are there at any time of the spans.

    Args:
        taken: (4, at least count): first byte, last byte + 1, start, end.
        count: How many are taken.
        spans: (spans, 2): half-open ranges of instructions.

    Returns:
        (rectangles,): indices, ascending.
    """
    starts, ends = taken[2, :count], taken[3, :count]
    there = np.zeros(count, np.bool_)
    for k in range(len(spans)):
        first, last = spans[k, 0], spans[k, 1]
        for i in range(count):
            there[i] |= (starts[i] < last) & (ends[i] > first)
    return np.flatnonzero(there)


@compiled
def free(lows: Ints, highs: Ints, capacity: int, alignment: int, size: int) -> Ints:
    """The gaps between ranges of bytes that hold so many bytes.

    Args:
        lows: (ranges,): first bytes, ascending.
        highs: (ranges,): last bytes + 1.
        capacity: Where the last gap ends at most.
        alignment: Bytes, of which the begin of a gap is a multiple.
        size: Bytes.

    Returns:
        (gaps, 2): begin and end of each, ascending.
    """
    gaps = np.empty((len(lows) + 1, 2), np.int64)
    found = begin = 0
    for i in range(len(lows) + 1):
        stop = min(lows[i], capacity) if i < len(lows) else capacity
        if stop - begin >= size:
            gaps[found, 0], gaps[found, 1] = begin, stop
            found += 1
        if i < len(lows):
            begin = max(begin, -(-highs[i] // alignment) * alignment)
    return gaps[:found]
