"""The inner loops of the space that is taken, compiled.

Rectangles are listed by time: in the buckets of instructions that they meet, of the
finest level at which these are few. So whatever asks for a short time looks at what is
there then, however much else is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.jit import compiled

FINEST = 7
"""The buckets of the finest level hold two to this power of instructions."""
COARSER = 3
"""Those of each level hold two to this power of buckets of the level before."""
MOST = 8
"""The most buckets in which one rectangle is listed."""


class Taken(NamedTuple):
    """Rectangles by their numbers, and the lists that they are in."""

    rectangles: Ints
    """(4, numbers): first byte, last byte + 1, start, end."""
    heads: Ints
    """(levels, 2, buckets): for each bucket, the first entry of the list of what begins
    there, and of the list of what is there already; or -1."""
    links: Ints
    """(2, numbers x MOST): the entries after and before each entry, or -1."""
    found: Ints
    """(numbers,): room for what is met."""


def nothing(instructions: int, numbers: int) -> Taken:
    """No rectangles, and room for so many."""
    levels = 1
    while instructions >> (FINEST + COARSER * (levels - 1)) >= MOST:
        levels += 1
    return Taken(
        np.zeros((4, numbers), np.int64),
        np.full((levels, 2, (instructions >> FINEST) + 1), -1, np.int64),
        np.full((2, numbers * MOST), -1, np.int64),
        np.zeros(numbers, np.int64),
    )


def doubled(taken: Taken) -> Taken:
    """The same, with room for twice as many."""
    return Taken(
        np.concatenate((taken.rectangles, taken.rectangles), axis=1),
        taken.heads,
        np.concatenate((taken.links, taken.links), axis=1),
        np.concatenate((taken.found, taken.found)),
    )


@compiled
def put(taken: Taken, number: int, low: int, high: int, start: int, end: int) -> None:
    """List a rectangle under a number that is not in use."""
    own = taken.rectangles[:, number]
    own[0], own[1], own[2], own[3] = low, high, start, end
    level, first, last = _buckets(taken, number)
    for bucket in range(first, last + 1):
        entry = number * MOST + bucket - first
        head = taken.heads[level, int(bucket > first)]
        after = head[bucket]
        taken.links[0, entry], taken.links[1, entry] = after, -1
        if after >= 0:
            taken.links[1, after] = entry
        head[bucket] = entry


@compiled
def take_out(taken: Taken, number: int) -> None:
    """Take a rectangle off the lists."""
    level, first, last = _buckets(taken, number)
    for bucket in range(first, last + 1):
        entry = number * MOST + bucket - first
        after, before = taken.links[0, entry], taken.links[1, entry]
        if after >= 0:
            taken.links[1, after] = before
        if before >= 0:
            taken.links[0, before] = after
        else:
            taken.heads[level, int(bucket > first), bucket] = after


@compiled
def _buckets(taken: Taken, number: int) -> tuple[int, int, int]:
    """The level at which a rectangle is listed, its first bucket there and its last."""
    level = 0
    first, last = _finest(
        taken, taken.rectangles[2, number], taken.rectangles[3, number]
    )
    while last - first >= MOST:
        level, first, last = level + 1, first >> COARSER, last >> COARSER
    return level, first, last


@compiled
def _finest(taken: Taken, start: int, end: int) -> tuple[int, int]:
    """The first and the last bucket of the finest level that a span meets."""
    most = taken.heads.shape[2] - 1
    first = min(max(start, 0) >> FINEST, most)
    return first, max(first, min((end - 1) >> FINEST, most))


@compiled
def _find(taken: Taken, spans: Ints) -> int:
    """Write what is there at any time of the spans to ``found``; how much that is."""
    _, heads, links, found = taken
    starts, ends = taken.rectangles[2], taken.rectangles[3]
    count = 0
    for k in range(len(spans)):
        first, last = _finest(taken, spans[k, 0], spans[k, 1])
        for level in range(len(heads)):
            for bucket in range(first, last + 1):
                for kind in range(1 + (bucket == first)):
                    entry = heads[level, kind, bucket]
                    while entry >= 0:
                        number = entry // MOST
                        span = _first_span(starts[number], ends[number], spans)
                        if span == k:
                            found[count] = number
                            count += 1
                        entry = links[0, entry]
            first, last = first >> COARSER, last >> COARSER
    return count


@compiled
def _first_span(start: int, end: int, spans: Ints) -> int:
    """The first of the spans in which something is there; their number if in none."""
    for k in range(len(spans)):
        if start < spans[k, 1] and end > spans[k, 0]:
            return k
    return len(spans)


@compiled
def met(taken: Taken, spans: Ints) -> Ints:
    """The rectangles that are there at any time of the spans.

    Args:
        taken: What is taken.
        spans: (spans, 2): half-open ranges of instructions.

    Returns:
        (rectangles,): numbers, ascending.
    """
    return np.sort(taken.found[: _find(taken, spans)])


@compiled
def free(
    taken: Taken, spans: Ints, fixed: Ints, capacity: int, alignment: int, size: int
) -> Ints:
    """The gaps that hold so many bytes during the spans.

    Args:
        taken: What is taken.
        spans: (spans, 2): half-open ranges of instructions.
        fixed: (ranges, 2): first bytes and last bytes + 1 that are taken besides.
        capacity: Where the last gap ends at most.
        alignment: Bytes, of which the begin of a gap is a multiple.
        size: Bytes.

    Returns:
        (gaps, 2): begin and end of each, ascending.
    """
    count = _find(taken, spans)
    ranges = np.empty((2, count + len(fixed)), np.int64)
    for i in range(count):
        number = taken.found[i]
        ranges[0, i] = taken.rectangles[0, number]
        ranges[1, i] = taken.rectangles[1, number]
    ranges[0, count:], ranges[1, count:] = fixed[:, 0], fixed[:, 1]
    gaps = np.empty((ranges.shape[1] + 1, 2), np.int64)
    found = begin = 0
    for i in np.argsort(ranges[0]):
        stop = min(ranges[0, i], capacity)
        if stop - begin >= size:
            gaps[found, 0], gaps[found, 1] = begin, stop
            found += 1
        begin = max(begin, -(-ranges[1, i] // alignment) * alignment)
    if capacity - begin >= size:
        gaps[found, 0], gaps[found, 1] = begin, capacity
        found += 1
    return gaps[:found]


@compiled
def first_taken(taken: Taken, low: int, high: int, start: int, end: int) -> int:
    """The first time from a start on at which any of these bytes are taken.

    Args:
        taken: What is taken.
        low: The first byte.
        high: The last byte + 1.
        start: The first instruction looked at.
        end: The instruction after the last.

    Returns:
        The instruction; ``end`` if there is none.
    """
    spans, first = np.array([[start, end]]), end
    for number in taken.found[: _find(taken, spans)]:
        if taken.rectangles[0, number] < high and taken.rectangles[1, number] > low:
            first = min(first, max(start, taken.rectangles[2, number]))
    return first
