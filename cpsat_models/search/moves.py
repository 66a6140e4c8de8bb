"""Moves: which part of a map to change, and how, at random.

A move takes allocations out, says which stay is wanted instead, and leaves the rest to
``rebuild``.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.rebuilding import NOBODY, rebuild, saving
from hybridalloc.incremental.directory import (
    ROWS,
    float_row,
    floats,
    int_row,
    ints,
)
from hybridalloc.incremental.edits import take
from hybridalloc.incremental.tables import (
    ACCESSED,
    ACTIVE,
    BLOCKED,
    BUFFER,
    CLAIMS,
    COST,
    COUNTS,
    CROSS,
    CROSSINGS,
    ELAPSED,
    END,
    FIRST,
    FIRST_ACCESS,
    FROM,
    HEADS,
    ISSUE,
    KIND,
    LAST,
    LEAST,
    LIMITS,
    MARKS,
    MOST_CROSSES,
    N_ACTIVE,
    N_CROSSES,
    NEXT,
    OF_BUFFER,
    POINTS,
    PRODUCED,
    RUN_STEP,
    RUNS,
    SLOTS,
    SPANS,
    STALL,
    START,
    STAY,
    STAYS,
    TERMS,
    TIMES,
    VALUES,
    WEIGHTS,
)
from hybridalloc.jit import compiled

DISPLACE, RUIN, RESIZE, REISSUE, REMOVE, EXCHANGE = range(6)
"""Kinds of moves: place a stay where what is in its way is worth least; take out
allocations around an instruction; place another stay instead of one of the same buffer;
issue copies at other points; take out an allocation; choose another cross-program
prefetch."""

DRAWS = 12
"""Stays drawn for one to be placed; the one that saves most for its cost is taken."""
TARGETED = 0.5
"""The share of those that are looked for where time is lost."""
LOOKS = 8
"""Instructions drawn for one at which time is lost."""
MOST_RUINED = 8
"""Allocations around an instruction that are taken out at a time."""


@compiled
def move(
    world: Ints,
    state: Ints,
    clocks: Ints,
    kind: int,
    random: np.random.Generator,
) -> bool:
    """Make a move at random: whether it came about.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost models.
        kind: Of the move.
        random: Draws.
    """
    if kind == RUIN:
        near = ruin(world, state, clocks, random)
        return rebuild(world, state, clocks, NOBODY, True, near, random)
    wanted, near = NOBODY, NOBODY
    if kind == DISPLACE:
        wanted = draw_stay(world, state, clocks, random)
    elif kind == EXCHANGE:
        wanted = draw_crossing(world, random)
    else:
        slot = any_slot(state, random)
        if slot != NOBODY:
            near = ints(state, SLOTS)[slot, FROM]
            stay = ints(state, SLOTS)[slot, STAY]
            if kind == RESIZE:
                wanted = draw_other(world, stay, random)
            elif kind == REISSUE and has_copies(world, stay):
                wanted = stay
    if kind != REMOVE:
        if wanted == NOBODY or not remove_rivals(world, state, clocks, wanted, random):
            return False
        near = ints(world, STAYS)[wanted, START]
    elif near == NOBODY:
        return False
    else:
        take(world, state, clocks, slot)
    if kind == REISSUE or (kind == REMOVE and random.random() < 0.5):
        near = NOBODY
    return rebuild(world, state, clocks, wanted, kind != REMOVE, near, random)


@compiled
def remove_rivals(
    world: Ints, state: Ints, clocks: Ints, stay: int, random: np.random.Generator
) -> bool:
    """Take out what cannot be there together with a stay; whether that may be."""
    stays, slots = ints(world, STAYS), ints(state, SLOTS)
    is_cross = stays[stay, KIND] == CROSS
    slot = int_row(state, HEADS)[stays[stay, BUFFER]]
    while slot >= 0:
        other, next_slot = slots[slot, STAY], slots[slot, NEXT]
        apart = (
            stays[other, LAST] < stays[stay, FIRST]
            or stays[other, FIRST] > stays[stay, LAST]
        )
        if not apart:
            if float_row(state, VALUES)[slot] == np.inf:
                return False
            take(world, state, clocks, slot)
        slot = next_slot
    most = int_row(world, LIMITS)[MOST_CROSSES]
    while is_cross and int_row(state, COUNTS)[N_CROSSES] >= most:
        slot = draw_cross(world, state, random)
        if slot == NOBODY:
            return False
        take(world, state, clocks, slot)
    return True


@compiled
def draw_crossing(world: Ints, random: np.random.Generator) -> int:
    """A stay that is a cross-program prefetch, or ``NOBODY``."""
    count = world[CROSSINGS, ROWS]
    if count == 0:
        return NOBODY
    return int(int_row(world, CROSSINGS)[int(random.random() * count)])


@compiled
def draw_cross(world: Ints, state: Ints, random: np.random.Generator) -> int:
    """A cross-program prefetch that may change, or ``NOBODY``."""
    found, highest = NOBODY, 0.0
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        slot, drawn = int_row(state, ACTIVE)[k], random.random()
        is_cross = ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], KIND] == CROSS
        if is_cross and drawn > highest and float_row(state, VALUES)[slot] < np.inf:
            found, highest = slot, drawn
    return found


@compiled
def any_slot(state: Ints, random: np.random.Generator) -> int:
    """An allocation that may change, or ``NOBODY``."""
    count = int_row(state, COUNTS)[N_ACTIVE]
    if count == 0:
        return NOBODY
    slot = int_row(state, ACTIVE)[int(random.random() * count)]
    return int(slot) if float_row(state, VALUES)[slot] < np.inf else NOBODY


@compiled
def has_copies(world: Ints, stay: int) -> bool:
    """Whether anything of a stay is copied at a point that may be another."""
    stays = ints(world, STAYS)
    evicts = stays[stay, ISSUE] >= 0
    return bool(stays[stay, KIND] == CROSS or not stays[stay, PRODUCED] or evicts)


@compiled
def draw_other(world: Ints, stay: int, random: np.random.Generator) -> int:
    """Another stay that shares accesses with one, or ``NOBODY``."""
    stays, of_buffer = ints(world, STAYS), int_row(world, OF_BUFFER)
    buffer = stays[stay, BUFFER]
    begin, end = of_buffer[buffer], of_buffer[buffer + 1]
    for _ in range(4):
        other = of_buffer[begin + int(random.random() * (end - begin))]
        touches = (
            stays[other, FIRST] <= stays[stay, LAST]
            and stays[stay, FIRST] <= stays[other, LAST]
        )
        if other != stay and touches:
            return int(other)
    return NOBODY


@compiled
def losing(world: Ints, clock: Ints, random: np.random.Generator) -> int:
    """An instruction at which much time is lost, likely."""
    times, terms = floats(clock, TIMES), floats(clock, TERMS)
    points, found, most = ints(world, POINTS), 0, -1.0
    for _ in range(LOOKS):
        t = int(random.random() * times.shape[0])
        lost = (times[t, ELAPSED] - terms[t, LEAST]) * terms[t, RUNS]
        lost += floats(clock, MARKS)[points[t, RUN_STEP], STALL]
        lost *= random.random()
        if lost > most:
            found, most = t, lost
    return found


@compiled
def draw_stay(
    world: Ints, state: Ints, clocks: Ints, random: np.random.Generator
) -> int:
    """A stay that would save much for what it costs, likely; or ``NOBODY``."""
    stays, points = ints(world, STAYS), ints(world, POINTS)
    of_buffer, first, count = int_row(world, OF_BUFFER), 0, stays.shape[0]
    found, best, t = NOBODY, 0.0, NOBODY
    if random.random() < TARGETED:
        t = losing(world, clocks[0], random)
        begin, end = points[t, FIRST_ACCESS], points[t + 1, FIRST_ACCESS]
        if begin == end:
            return NOBODY
        i = begin + int(random.random() * (end - begin))
        buffer = int_row(world, ACCESSED)[i]
        first, count = of_buffer[buffer], of_buffer[buffer + 1] - of_buffer[buffer]
    if count == 0:
        return NOBODY
    for _ in range(DRAWS):
        stay = first + int(random.random() * count)
        if t != NOBODY:
            stay = of_buffer[stay]
            if not stays[stay, START] <= t < stays[stay, END]:
                continue
        worth = saving(world, state, clocks, stay) / floats(world, WEIGHTS)[stay, COST]
        worth *= 0.5 + random.random()
        if worth > best:
            found, best = stay, worth
    return int(found)


@compiled
def ruin(world: Ints, state: Ints, clocks: Ints, random: np.random.Generator) -> int:
    """Take out allocations around an instruction: which that is."""
    active, spans = int_row(state, ACTIVE), ints(state, SPANS)
    # BLOCKED is free until the next placement: its third column lists the slots.
    centre, around, found = losing(world, clocks[0], random), 0, ints(state, BLOCKED)
    if random.random() < 0.5:
        centre = int(random.random() * state[CLAIMS, ROWS])
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        if spans[k, 0] <= centre < spans[k, 1]:
            found[around, 2] = active[k]
            around += float_row(state, VALUES)[active[k]] < np.inf
    for _ in range(min(1 + int(random.random() * MOST_RUINED), around)):
        k = int(random.random() * around)
        take(world, state, clocks, found[k, 2])
        around -= 1
        found[k, 2] = found[around, 2]
    return centre
