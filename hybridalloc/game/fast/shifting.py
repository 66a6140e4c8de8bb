"""Room where there is none: others are placed anew so that a stay fits."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.fast.space import best_fit, block
from hybridalloc.game.fast.tables import SHIFTS
from hybridalloc.game.placing import MOST_SHIFTS, TRIES
from hybridalloc.incremental.directory import ints
from hybridalloc.incremental.places import NOWHERE, bases_until
from hybridalloc.incremental.tables import (
    BEGIN,
    BLOCKED,
    BOXES,
    CLOSE,
    FIRST_BOX,
    HIGH,
    OFFSET,
    SLOTS,
    STAY,
    STAYS,
    UNTOUCHED,
)
from hybridalloc.jit import compiled

AWAY = -(2**60)
"""An offset at which a slot is in nobody's way."""


@compiled
def make_room(
    world: Ints, state: Ints, play: Ints, row: Ints, close: int, but: int, action: int
) -> bool:
    """Give a stay its offset, where others can give way to it: whether there is one.

    Tried first is where the fewest bytes have to be placed anew. Who is to go where is
    noted for the action.

    Args:
        world: What does not change.
        state: The map; it stays as it is.
        play: Takes the note.
        row: The stay.
        close: When its first box closes.
        but: The slot that it is to leave, if it is in one.
        action: Which.
    """
    if but == NOWHERE:
        return make_room_beside(world, state, play, row, close, action)
    slots = ints(state, SLOTS)
    before = slots[but, OFFSET]
    slots[but, OFFSET] = AWAY
    found = make_room_beside(world, state, play, row, close, action)
    slots[but, OFFSET] = before
    return found


@compiled
def make_room_beside(
    world: Ints, state: Ints, play: Ints, row: Ints, close: int, action: int
) -> bool:
    """The same, for a stay that is in no slot yet."""
    shifts = ints(play, SHIFTS)[action * MOST_SHIFTS : (action + 1) * MOST_SHIFTS]
    count = block(world, state, play, row, close, 0, NOWHERE)
    blocked = ints(state, BLOCKED)[:count].copy()
    least, most = bases_until(world, row, close)
    places = list_places(blocked, least, most)
    costs = costs_at(world, state, blocked, places)
    for _ in range(min(TRIES, places.size)):
        best = np.argmin(costs)
        if costs[best] == np.inf:
            break
        costs[best] = np.inf
        row[OFFSET] = places[best]
        if clear(world, state, play, row, close, blocked, shifts):
            return True
    shifts[0, 0] = NOWHERE
    return False


@compiled
def list_places(blocked: Ints, least: int, most: int) -> Ints:
    """The bases worth trying: the ends of memory, and beside what is there."""
    places, count = np.empty(2 * blocked.shape[0] + 2, np.int64), 0
    if least > most:
        return places[:0]
    places[0], places[1] = least, most
    count = 2
    for k in range(blocked.shape[0]):
        for base in (blocked[k, 0] - 1, blocked[k, 1]):
            if least < base < most:
                places[count] = base
                count += 1
    return places[:count]


@compiled
def costs_at(world: Ints, state: Ints, blocked: Ints, places: Ints) -> Floats:
    """The units that are in the way at each base; infinite if some have to stay."""
    units, stay = np.empty(blocked.shape[0]), np.empty(blocked.shape[0], np.int64)
    for k in range(blocked.shape[0]):
        slot = blocked[k, 2]
        units[k], stay[k] = 0.0, 1
        if slot != NOWHERE:
            row = ints(state, SLOTS)[slot]
            units[k] = row[FIRST_BOX + HIGH]
            stay[k] = ints(world, STAYS)[row[STAY], UNTOUCHED]
    firsts, ends = np.argsort(blocked[:, 0]), np.argsort(blocked[:, 1])
    costs, here, staying, i, j = np.empty(places.size), 0.0, 0, 0, 0
    for k in np.argsort(places):
        while i < firsts.size and blocked[firsts[i], 0] <= places[k]:
            here += units[firsts[i]]
            staying += stay[firsts[i]]
            i += 1
        while j < ends.size and blocked[ends[j], 1] <= places[k]:
            here -= units[ends[j]]
            staying -= stay[ends[j]]
            j += 1
        costs[k] = np.inf if staying > 0 else here
    return costs


@compiled
def clear(
    world: Ints,
    state: Ints,
    play: Ints,
    row: Ints,
    close: int,
    blocked: Ints,
    shifts: Ints,
) -> bool:
    """Find other places for all that is in the way of a stay, the largest first.

    Whether there are; they are noted in ``shifts``.
    """
    slots, count = ints(state, SLOTS), 0
    shifts[:, 0] = NOWHERE
    for k in range(blocked.shape[0]):
        if blocked[k, 0] <= row[OFFSET] < blocked[k, 1]:
            if count == shifts.shape[0]:
                return False
            shifts[count, 0] = blocked[k, 2]
            count += 1
    sizes, before = np.empty(count), np.empty(count, np.int64)
    for k in range(count):
        slot = shifts[k, 0]
        sizes[k], before[k] = -slots[slot, FIRST_BOX + HIGH], slots[slot, OFFSET]
        slots[slot, OFFSET] = AWAY
    cleared = True
    for k in np.argsort(sizes, kind="mergesort"):
        slot = shifts[k, 0]
        base = place_beside(world, state, play, slot, row, close)
        cleared = base != NOWHERE
        if not cleared:
            break
        slots[slot, OFFSET] = shifts[k, 1] = base
    for k in range(count):
        slots[shifts[k, 0], OFFSET] = before[k]
    return cleared


@compiled
def place_beside(
    world: Ints, state: Ints, play: Ints, slot: int, row: Ints, close: int
) -> int:
    """A base for a slot beside all others and a stay that is not in a slot yet."""
    mine, blocked = ints(state, SLOTS)[slot], ints(state, BLOCKED)
    until = mine[FIRST_BOX + CLOSE]
    count = block(world, state, play, mine, until, 0, slot)
    if meets(mine, until, row, close):
        blocked[count, 0] = row[OFFSET] - mine[FIRST_BOX + HIGH] + 1
        blocked[count, 1] = row[OFFSET] + row[FIRST_BOX + HIGH]
        count += 1
    return best_fit(world, state, mine, until, count)


@compiled
def meets(one: Ints, one_close: int, other: Ints, other_close: int) -> bool:
    """Whether two stays need their places at one time."""
    for i in range(one[BOXES]):
        here = FIRST_BOX + 4 * i
        end = one_close if i == 0 else one[here + CLOSE]
        for j in range(other[BOXES]):
            there = FIRST_BOX + 4 * j
            until = other_close if j == 0 else other[there + CLOSE]
            if one[here + BEGIN] < until and other[there + BEGIN] < end:
                return True
    return False
