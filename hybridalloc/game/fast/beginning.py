"""How a stay of the fast game may begin: drafts, and copies that bring it in."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.game.copying import TOLERANCE
from hybridalloc.game.fast.fetching import awaited_issue, latest_issue
from hybridalloc.game.fast.shifting import make_room
from hybridalloc.game.fast.space import find_place
from hybridalloc.game.fast.tables import (
    BEGINS,
    BEGINS_HERE,
    CHOICES,
    COPY,
    CROSSED_BY,
    FETCHES,
    FETCHES_FROM,
    FETCHES_TO,
    GROWTH,
    IS_LAST,
    LONGEST,
    MAKES_ROOM,
    NEVER,
    OPTIONS,
    ROW,
    TURN_OF,
    TURN_USE,
    WAITS,
)
from hybridalloc.incremental.directory import int_row, ints
from hybridalloc.incremental.places import NOWHERE
from hybridalloc.incremental.tables import (
    BEGIN,
    BOXES,
    BUFFER,
    CLOSE,
    COUNTS,
    CROSS,
    DUE,
    EARLIEST,
    END,
    FIRST_BOX,
    FROM,
    HEADS,
    HIGH,
    KIND,
    LIMITS,
    LOW,
    MOST_CROSSES,
    N_CROSSES,
    NEXT,
    OF,
    OUT,
    POINTS,
    READY,
    SLOT_COLUMNS,
    SLOTS,
    START,
    STAY,
    STAYS,
    UNITS,
    UNTIL,
)
from hybridalloc.jit import compiled

MOST_LATE = 32
"""Ways to issue a copy that may be waited for, at most; two for each loop around."""


@compiled
def prepare_copy(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, turn: Ints
) -> None:
    """Prepare Copy: in time, or left by the previous run, or else to be waited for."""
    row, begins = int_row(play, ROW), ints(rules, BEGINS)[turn[TURN_USE]]
    valid_from = slow_valid_from(state, turn[TURN_OF])
    for k in range(begins[FETCHES_FROM], begins[FETCHES_TO]):
        draft(world, row, int_row(rules, FETCHES)[k])
        earliest = max(valid_from, ints(world, STAYS)[row[STAY], EARLIEST])
        issue = latest_issue(world, state, clocks, row, earliest)
        if issue != NEVER:
            row[FROM] = row[FIRST_BOX + BEGIN] = issue
            if offer(world, state, rules, play, row, COPY):
                return
    if begins[CROSSED_BY] >= 0 and prepare_crossed(
        world, state, clocks, rules, play, begins[CROSSED_BY]
    ):
        return
    if int_row(rules, CHOICES)[WAITS]:
        prepare_late(world, state, clocks, rules, play, begins, valid_from)


@compiled
def slow_valid_from(state: Ints, buffer: int) -> int:
    """The first point at which the slow copy of a buffer is up to date."""
    slots, point = ints(state, SLOTS), 0
    slot = int_row(state, HEADS)[buffer]
    while slot >= 0:
        if slots[slot, OUT] >= 0:
            at_once = slots[slot, OUT] == slots[slot, DUE]
            point = max(point, slots[slot, DUE] + at_once)
        slot = slots[slot, NEXT]
    return int(point)


@compiled
def prepare_crossed(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, stay: int
) -> bool:
    """Prepare Copy of what the previous run left: whether that is possible.

    With a copy for the next run, or held all the time.
    """
    row, last = int_row(play, ROW), ints(world, POINTS).shape[0] - 2
    if int_row(state, COUNTS)[N_CROSSES] >= int_row(world, LIMITS)[MOST_CROSSES]:
        return False
    draft(world, row, stay)
    head = row[FIRST_BOX + CLOSE]
    issue = latest_issue(world, state, clocks, row, head + 1)
    if issue != NEVER:
        row[BOXES] = 2
        row[FIRST_BOX + 4 + LOW], row[FIRST_BOX + 4 + HIGH] = 0, row[FIRST_BOX + HIGH]
        row[FIRST_BOX + 4 + BEGIN], row[FIRST_BOX + 4 + CLOSE] = issue, last
        if offer(world, state, rules, play, row, COPY):
            return True
    if not ints(rules, GROWTH)[stay, IS_LAST]:
        return False
    row[BOXES], row[FIRST_BOX + CLOSE] = 1, last
    return offer(world, state, rules, play, row, COPY)


@compiled
def prepare_late(
    world: Ints,
    state: Ints,
    clocks: Ints,
    rules: Ints,
    play: Ints,
    begins: Ints,
    valid_from: int,
) -> None:
    """Prepare Copy where the program has to wait for it, as briefly as may be."""
    row, fetches = int_row(play, ROW), int_row(rules, FETCHES)
    late, count = np.empty((MOST_LATE, 3), np.int64), 0
    for k in range(begins[FETCHES_FROM], begins[FETCHES_TO]):
        draft(world, row, fetches[k])
        earliest = max(valid_from, ints(world, STAYS)[row[STAY], EARLIEST])
        longest = ints(rules, GROWTH)[fetches[k], LONGEST]
        one, one_s, other, other_s = awaited_issue(
            world, state, clocks, play, row, earliest, longest
        )
        if one != NEVER and count + 2 <= MOST_LATE:
            late[count] = round_s(one_s), one, fetches[k]
            late[count + 1] = round_s(other_s), other, fetches[k]
            count += 2
    for _ in range(count):
        best = np.argmin(late[:count, 0])
        if late[best, 0] > 0:
            return
        draft(world, row, late[best, 2])
        row[FROM] = row[FIRST_BOX + BEGIN] = late[best, 1]
        late[best, 0] = 2**62
        if offer(world, state, rules, play, row, COPY):
            return


@compiled
def round_s(seconds: float) -> int:
    """Seconds in whole tolerances, so that rounding decides nothing."""
    return int(np.floor(min(seconds / TOLERANCE + 0.5, 2.0**61)))


@compiled
def draft(world: Ints, row: Ints, stay: int) -> None:
    """A stay as if it needed no copy, without a place."""
    stays = ints(world, STAYS)
    row[STAY], row[OF] = stay, stays[stay, BUFFER]
    row[OUT] = row[DUE] = NEVER
    row[FROM] = row[READY] = stays[stay, START]
    row[UNTIL], row[BOXES] = stays[stay, END], 1
    row[FIRST_BOX + LOW], row[FIRST_BOX + HIGH] = 0, stays[stay, UNITS]
    row[FIRST_BOX + BEGIN], row[FIRST_BOX + CLOSE] = row[FROM], row[UNTIL]
    if stays[stay, KIND] == CROSS:
        row[UNTIL] = ints(world, POINTS).shape[0] - 2


@compiled
def offer(
    world: Ints, state: Ints, rules: Ints, play: Ints, row: Ints, action: int
) -> bool:
    """Place a stay as an action would: whether that is possible."""
    found = find_place(world, state, play, row)
    if not found and int_row(rules, CHOICES)[MAKES_ROOM]:
        close = row[FIRST_BOX + CLOSE]
        found = make_room(world, state, play, row, close, NOWHERE, action)
    if found:
        option = ints(play, OPTIONS)[action]
        for column in range(SLOT_COLUMNS):
            option[column] = row[column]
        option[SLOT_COLUMNS] = BEGINS_HERE
    return found
