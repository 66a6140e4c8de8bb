"""The inner loops of packing, compiled.

A *base* is a place for the offset of a block. What is taken forbids ranges of bases: a
rectangle of bytes [low, high) relative to the offset meets a taken [first, last) at the
same time if the base is strictly between first - high and last - low.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.jit import compiled

NOWHERE = -1
"""Instead of an offset: there is none."""
UNBOUNDED = 2**62
"""More bytes than any gap has, and later than any instruction."""


class Blocks(NamedTuple):
    """What is to be placed, as arrays."""

    first: Ints
    """(blocks + 1,): the first rectangle of each, and the number of rectangles."""
    rectangles: Ints
    """(4, rectangles): first byte, last byte + 1, both from the offset, start, end."""
    top: Ints
    """(blocks,): the bytes from the offset to the end of the highest rectangle."""
    floor: Ints
    """(blocks,): the least offset."""
    fixed: Ints
    """(blocks,): the only offset, or -1."""


@compiled
def place(
    order: Ints,
    blocks: Blocks,
    taken: Ints,
    ascending: Ints,
    count: int,
    capacity: int,
    alignment: int,
    best: bool,
    offsets: Ints,
) -> int:
    """Place blocks one by one.

    Args:
        order: (some blocks,): the first to be placed first.
        blocks: All blocks.
        taken: (4, enough): rectangles; takes those of the blocks.
        ascending: (enough,): their indices, by first byte.
        count: How many are taken.
        capacity: Bytes.
        alignment: Bytes, of which every offset is a multiple.
        best: Whether the smallest gap is taken, or the lowest.
        offsets: (blocks,): takes offsets in bytes, -1 where there is no place.

    Returns:
        How many rectangles are taken then.
    """
    ranges = np.empty((2, 2 * taken.shape[1]), np.int64)
    for block in order:
        own = blocks.rectangles[:, blocks.first[block] : blocks.first[block + 1]]
        if own.shape[1] * count > ranges.shape[1]:
            ranges = np.empty((2, 2 * own.shape[1] * count), np.int64)
        found = forbid(taken, ascending, count, own, ranges)
        least, most = blocks.floor[block], capacity - blocks.top[block]
        if blocks.fixed[block] != NOWHERE:
            least, most = fix(blocks.fixed[block], least, most, alignment)
        base = choose(ranges[:, :found], least, most, alignment, best)
        offsets[block] = base
        if base != NOWHERE:
            count = insert(taken, ascending, count, own, base)
    return count


@compiled
def forbid(taken: Ints, ascending: Ints, count: int, own: Ints, ranges: Ints) -> int:
    """Find the bases that are forbidden to a block, by their first.

    Args:
        taken: (4, at least count): rectangles.
        ascending: (at least count,): their indices, by first byte.
        count: How many are taken.
        own: (4, rectangles): those of the block.
        ranges: (2, at least count x rectangles): takes the ranges, both ends allowed.

    Returns:
        The number of ranges.
    """
    found = 0
    starts, ends = taken[2, :count], taken[3, :count]
    there = np.empty(count, np.bool_)
    for r in range(own.shape[1]):
        low, high, start, end = own[0, r], own[1, r], own[2, r], own[3, r]
        for i in range(count):  # a loop of its own, for it is done in vectors
            there[i] = (starts[i] < end) & (ends[i] > start)
        for i in ascending[:count]:
            if there[i]:
                ranges[0, found] = taken[0, i] - high
                ranges[1, found] = taken[1, i] - low
                found += 1
    if own.shape[1] > 1:
        order = np.argsort(ranges[0, :found])
        ranges[0, :found] = ranges[0, :found][order]
        ranges[1, :found] = ranges[1, :found][order]
    return found


@compiled
def fix(base: int, least: int, most: int, alignment: int) -> tuple[int, int]:
    """The limits that leave one base alone, or none if it is not within limits."""
    if base % alignment or not least <= base <= most:
        return 0, NOWHERE
    return base, base


@compiled
def choose(ranges: Ints, least: int, most: int, alignment: int, best: bool) -> int:
    """The base in the smallest or the lowest gap; the lowest, if tied.

    Above everything the gap counts as the largest: it has no end.

    Args:
        ranges: (2, ranges): forbidden, by their first.
        least: The least base.
        most: The greatest base.
        alignment: Bytes, of which a base is a multiple.
        best: Whether the smallest gap is taken, or the lowest.

    Returns:
        Bytes, or -1.
    """
    end = least
    chosen, smallest = NOWHERE, UNBOUNDED
    for i in range(ranges.shape[1]):
        if end > most:
            return chosen
        if end <= ranges[0, i]:
            base = -(-end // alignment) * alignment
            if base <= most and 0 <= ranges[0, i] - base < smallest:
                chosen, smallest = base, ranges[0, i] - base
                if not best:
                    return chosen
        end = max(end, ranges[1, i])
    base = -(-end // alignment) * alignment
    return base if chosen == NOWHERE and base <= most else chosen


@compiled
def insert(taken: Ints, ascending: Ints, count: int, own: Ints, base: int) -> int:
    """Take the rectangles of a block at a base; the new number of those taken."""
    for r in range(own.shape[1]):
        low = own[0, r] + base
        taken[0, count], taken[1, count] = low, own[1, r] + base
        taken[2, count], taken[3, count] = own[2, r], own[3, r]
        i = count
        while i > 0 and taken[0, ascending[i - 1]] > low:
            ascending[i] = ascending[i - 1]
            i -= 1
        ascending[i] = count
        count += 1
    return count
