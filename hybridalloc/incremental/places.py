"""Places: the bases that an allocation may have beside those that are there.

A base is the offset of an allocation, in units. A box [low, high), relative to it,
meets a taken [first, last) at the same time if the base is above first - high and below
last - low: each such pair blocks an interval of bases.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.incremental.directory import float_row, int_row, ints
from hybridalloc.incremental.tables import (
    ACTIVE,
    BEGIN,
    BLOCKED,
    BOXES,
    CAPACITY,
    CLOSE,
    COUNTS,
    FIRST_BOX,
    FIXED,
    FROM,
    HAS_SCRATCH,
    HIGH,
    LIMITS,
    LOAD,
    LOW,
    N_ACTIVE,
    OFFSET,
    POINTS,
    RESERVED,
    SCRATCH,
    SLOTS,
    SPANS,
    STAY,
    STAYS,
    UNTIL,
    VALUES,
)
from hybridalloc.jit import compiled

NOWHERE = -1


@compiled
def block(world: Ints, state: Ints, row: Ints) -> int:
    """Collect the bases that are blocked for an allocation: how many intervals."""
    slots, active = ints(state, SLOTS), int_row(state, ACTIVE)
    spans, blocked = ints(state, SPANS), ints(state, BLOCKED)
    begin, end, count = row[FROM], row[UNTIL], 0
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        if spans[k, 0] >= end or spans[k, 1] <= begin:
            continue
        slot = active[k]
        base = slots[slot, OFFSET]
        for i in range(slots[slot, BOXES]):
            there = FIRST_BOX + 4 * i
            for j in range(row[BOXES]):
                here = FIRST_BOX + 4 * j
                if slots[slot, there + BEGIN] >= row[here + CLOSE]:
                    continue
                if slots[slot, there + CLOSE] <= row[here + BEGIN]:
                    continue
                blocked[count, 0] = base + slots[slot, there + LOW] - row[here + HIGH]
                blocked[count, 0] += 1
                blocked[count, 1] = base + slots[slot, there + HIGH] - row[here + LOW]
                blocked[count, 2] = slot
                count += 1
    return block_reserved(ints(world, RESERVED), row, blocked, count)


@compiled
def may_fit(world: Ints, state: Ints, row: Ints) -> bool:
    """Whether enough units are free at each time, wherever they are."""
    load, most = int_row(state, LOAD), int_row(world, LIMITS)[CAPACITY]
    for j in range(row[BOXES]):
        here = FIRST_BOX + 4 * j
        left = most - row[here + HIGH] + row[here + LOW]
        for t in range(row[here + BEGIN], row[here + CLOSE]):
            if load[t] > left:
                return False
    return True


@compiled
def block_reserved(reserved: Ints, row: Ints, blocked: Ints, count: int) -> int:
    """Collect those that reserved ranges block, too."""
    for k in range(reserved.shape[0]):
        for j in range(row[BOXES]):
            here = FIRST_BOX + 4 * j
            blocked[count, 0] = reserved[k, 0] - row[here + HIGH] + 1
            blocked[count, 1] = reserved[k, 1] - row[here + LOW]
            blocked[count, 2] = NOWHERE
            count += 1
    return count


@compiled
def bases(world: Ints, row: Ints) -> tuple[int, int]:
    """The least and the largest base, for scratch, capacity and a fixed place."""
    return bases_until(world, row, row[FIRST_BOX + CLOSE])


@compiled
def bases_until(world: Ints, row: Ints, close: int) -> tuple[int, int]:
    """The same, if the first box closed at another point."""
    points, limits = ints(world, POINTS), int_row(world, LIMITS)
    least, top = 0, 0
    for j in range(row[BOXES]):
        here = FIRST_BOX + 4 * j
        top = max(top, row[here + HIGH])
        if not limits[HAS_SCRATCH]:
            continue
        for t in range(row[here + BEGIN], close if j == 0 else row[here + CLOSE]):
            least = max(least, points[t, SCRATCH] - row[here + LOW])
    most = limits[CAPACITY] - top
    fixed = ints(world, STAYS)[row[STAY], FIXED]
    if fixed >= 0:
        return max(least, fixed), min(most, fixed)
    return least, most


@compiled
def fit(blocked: Ints, count: int, least: int, most: int, style: int) -> int:
    """A base that is not blocked, or ``NOWHERE``.

    Args:
        blocked: ``State.blocked``.
        count: How many intervals it has.
        least: The least base.
        most: The largest base.
        style: Which: 0 the low end of the smallest gap, 1 its high end, 2 the lowest,
            3 the highest.
    """
    found, smallest, base = NOWHERE, 2**62, least
    order = np.argsort(blocked[:count, 0])
    for k in range(count + 1):
        until = most + 1 if k == count else min(blocked[order[k], 0], most + 1)
        if until > base:
            gap = until - base
            if style == 2:
                return base
            if style == 3 or gap < smallest:
                smallest = gap
                found = base if style == 0 else until - 1
        if k < count:
            base = max(base, blocked[order[k], 1])
    return found


@compiled
def is_free(blocked: Ints, count: int, least: int, most: int, base: int) -> bool:
    """Whether one base is not blocked."""
    free = least <= base <= most
    for k in range(count):
        free = free and not blocked[k, 0] <= base < blocked[k, 1]
    return free


@compiled
def cheapest(
    state: Ints,
    count: int,
    least: int,
    most: int,
    noise: float,
    random: np.random.Generator,
) -> int:
    """The base at which what is in the way is worth least, or ``NOWHERE``.

    Args:
        state: Its ``blocked`` has the intervals, its ``values`` what slots are worth.
        count: How many intervals there are.
        least: The least base.
        most: The largest base.
        noise: By which part values may appear smaller.
        random: Draws that.
    """
    blocked, values = ints(state, BLOCKED), float_row(state, VALUES)
    worth = np.empty(count)
    for k in range(count):
        slot, worth[k] = blocked[k, 2], np.inf
        if blocked[k, 1] <= least:
            worth[k] = 0.0
        elif slot != NOWHERE:
            worth[k] = values[slot] * (1 - noise * random.random())
    begins, ends = np.argsort(blocked[:count, 0]), np.argsort(blocked[:count, 1])
    found, lowest, total, fixed, begun = NOWHERE, np.inf, 0.0, 0, 0
    for k in range(-1, count):
        base = least
        if k >= 0:
            interval = ends[k]
            base = blocked[interval, 1]
        while begun < count and blocked[begins[begun], 0] <= base:
            if worth[begins[begun]] == np.inf:
                fixed += 1
            else:
                total += worth[begins[begun]]
            begun += 1
        if k >= 0:
            if worth[interval] == np.inf:
                fixed -= 1
            else:
                total -= worth[interval]
        if least <= base <= most and fixed == 0 and total < lowest:
            found, lowest = base, total
    return found
