"""Rebuilding: a stay that is wanted is placed, and then what it had to give way to."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.cpsat_models.search.drafts import draft, redraft
from hybridalloc.incremental.directory import (
    ROWS,
    float_row,
    floats,
    int_row,
    ints,
)
from hybridalloc.incremental.edits import TAKEN, put, take
from hybridalloc.incremental.instructions import time_instruction
from hybridalloc.incremental.places import (
    NOWHERE,
    bases,
    block,
    cheapest,
    fit,
    is_free,
    may_fit,
)
from hybridalloc.incremental.tables import (
    ACCESS,
    BLOCKED,
    BUFFER,
    COUNTS,
    CROSS,
    DRAFT,
    ELAPSED,
    FAST,
    FIRST,
    FIRST_ACCESS,
    FROM_HERE,
    INSTRUCTION,
    KIND,
    LAST,
    LOG,
    N_LOGGED,
    OF_BUFFER,
    OFFSET,
    POINTS,
    RUNS,
    SLOTS,
    STAY,
    STAYS,
    SUMS,
    TERMS,
    TIMES,
    USES,
    VALUES,
    WEIGHT,
)
from hybridalloc.jit import compiled

NOBODY = -1
MOST_TAKEN = 40
"""Allocations that may give way to one."""
NEAR = 12
"""Stays before and after an instruction that count as near it."""
FILLERS = 5
"""Stays near a change that are tried in the room that is left."""
NOISE = 0.5
"""By which part the value of what gives way may appear smaller."""
USUALLY = 0.7
"""How often an allocation goes to the low end of the smallest gap that holds it."""
SAME = 0.5
"""How often an allocation that is placed as it was goes where it was, if it can."""
STALLING = 0.5
"""How often the program may wait for the copies of what is placed again."""
LOOKS = 4
"""Parts of a stay that are drawn for one to be placed."""


@compiled
def saving(world: Ints, state: Ints, clocks: Ints, stay: int) -> float:
    """By how much the objective would fall if fast memory served a stay, too."""
    stays, uses, points = ints(world, STAYS), ints(world, USES), ints(world, POINTS)
    fast, total = int_row(state, FAST), 0.0
    for use in range(stays[stay, FIRST], stays[stay, LAST] + 1):
        t, i = uses[use, INSTRUCTION], uses[use, ACCESS]
        if fast[i]:
            continue
        begin, end = points[t, FIRST_ACCESS], points[t + 1, FIRST_ACCESS]
        fast[i] = True
        for k in range(clocks.shape[0]):
            clock = clocks[k]
            after, _ = time_instruction(clock, fast, begin, end, t)
            saved = floats(clock, TIMES)[t, ELAPSED] - after
            runs = floats(clock, TERMS)[t, RUNS]
            total += float_row(clock, SUMS)[WEIGHT] * runs * saved
        fast[i] = False
    return total


@compiled
def place(
    world: Ints,
    state: Ints,
    clocks: Ints,
    stay: int,
    slot: int,
    may_stall: bool,
    may_displace: bool,
    random: np.random.Generator,
) -> bool:
    """Place a stay, if need be where what gives way is worth least.

    Where that fails what was taken out stays out, for the caller to take back.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost models.
        stay: Which.
        slot: What to place just as it was, or ``NOBODY``.
        may_stall: Whether the program may wait for its copies.
        may_displace: Whether others may give way.
        random: Draws.
    """
    if slot != NOBODY:
        drafted = redraft(world, state, slot)
    else:
        drafted = draft(world, state, clocks[0], stay, may_stall, random)
    row = int_row(state, DRAFT)
    if not drafted or not (may_displace or may_fit(world, state, row)):
        return False
    count = block(world, state, row)
    least, most = bases(world, row)
    if least > most:
        return False
    blocked, base = ints(state, BLOCKED), row[OFFSET]
    stays_put = slot != NOBODY and random.random() < SAME
    if not (stays_put and is_free(blocked, count, least, most, base)):
        style = 0 if random.random() < USUALLY else int(4 * random.random())
        base = fit(blocked, count, least, most, style)
    if base == NOWHERE and may_displace:
        base = cheapest(state, count, least, most, NOISE, random)
        for k in range(count):
            if base != NOWHERE and is_first(blocked, k, base):
                take(world, state, clocks, blocked[k, 2])
    if base == NOWHERE or int_row(state, COUNTS)[N_LOGGED] > MOST_TAKEN:
        return False
    row[OFFSET] = base
    put(world, state, clocks, row, saving(world, state, clocks, stay))
    return True


@compiled
def is_first(blocked: Ints, k: int, base: int) -> bool:
    """Whether an interval blocks a base, the first of its slot to do so."""
    if not blocked[k, 0] <= base < blocked[k, 1]:
        return False
    for i in range(k):
        same = blocked[i, 2] == blocked[k, 2]
        if same and blocked[i, 0] <= base < blocked[i, 1]:
            return False
    return True


@compiled
def rebuild(
    world: Ints,
    state: Ints,
    clocks: Ints,
    wanted: int,
    again: bool,
    near: int,
    random: np.random.Generator,
) -> bool:
    """Place a stay, then what is out, then others: whether the first came about.

    Args:
        world: What does not change.
        state: The map, some of which has been taken out.
        clocks: The cost models.
        wanted: A stay that is placed whatever must give way, or ``NOBODY``.
        again: Whether what is out is placed where it fits now, or else a part of it.
        near: An instruction near which others are placed then, or ``NOBODY``.
        random: Draws.
    """
    if wanted != NOBODY and not place(
        world, state, clocks, wanted, NOBODY, True, True, random
    ):
        return False
    if again:
        place_again(world, state, clocks, random)
    if near != NOBODY:
        fill(world, state, clocks, near, random)
    return True


@compiled
def place_again(
    world: Ints, state: Ints, clocks: Ints, random: np.random.Generator
) -> None:
    """Place what is out as it was, or drafted anew, or a part of it, if it fits."""
    log, slots = ints(state, LOG), ints(state, SLOTS)
    order = in_order(state, int_row(state, COUNTS)[N_LOGGED], random)
    for k in np.argsort(order):
        if log[k, 1] != TAKEN:
            continue
        slot, may_stall = log[k, 0], random.random() < STALLING
        stay = slots[slot, STAY]
        placed = False
        for attempt in range(3):
            if attempt == 2:
                stay, may_stall = draw_part(world, stay, random), True
            if not placed and stay != NOBODY:
                old = slot if attempt == 0 else NOBODY
                placed = place(
                    world, state, clocks, stay, old, may_stall, False, random
                )


@compiled
def fill(
    world: Ints, state: Ints, clocks: Ints, near: int, random: np.random.Generator
) -> None:
    """Place some stays that begin near an instruction where there is room."""
    first = max(0, ints(world, POINTS)[near, FROM_HERE] - NEAR)
    for _ in range(FILLERS):
        stay = first + int(random.random() * 2 * NEAR)
        if is_useful(world, state, clocks, stay):
            place(world, state, clocks, stay, NOBODY, False, False, random)


@compiled
def in_order(state: Ints, logged: int, random: np.random.Generator) -> Floats:
    """(logged,): what to order edits by; those that took nothing out have 1."""
    log, order = ints(state, LOG), np.ones(logged)
    for k in range(logged):
        if log[k, 1] == TAKEN:
            order[k] = -float_row(state, VALUES)[log[k, 0]] * random.random()
    return order


@compiled
def is_useful(world: Ints, state: Ints, clocks: Ints, stay: int) -> bool:
    """Whether a stay, if there is one of that number, would save any time."""
    if stay >= world[STAYS, ROWS] or ints(world, STAYS)[stay, KIND] == CROSS:
        return False
    return bool(saving(world, state, clocks, stay) > 0)


@compiled
def draw_part(world: Ints, stay: int, random: np.random.Generator) -> int:
    """A stay that is a part of another one of its buffer, or ``NOBODY``."""
    stays, of_buffer = ints(world, STAYS), int_row(world, OF_BUFFER)
    buffer = stays[stay, BUFFER]
    begin, end = of_buffer[buffer], of_buffer[buffer + 1]
    if stays[stay, FIRST] == stays[stay, LAST]:
        return NOBODY
    for _ in range(LOOKS):
        part = of_buffer[begin + int(random.random() * (end - begin))]
        within = (
            stays[stay, FIRST] <= stays[part, FIRST]
            and stays[part, LAST] <= stays[stay, LAST]
            and stays[part, KIND] != CROSS
        )
        if part != stay and within:
            return int(part)
    return NOBODY
