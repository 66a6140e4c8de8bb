"""Doing what an action of the fast game was prepared to do."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.evicting import end, find_due, hold
from hybridalloc.game.fast.preparing import end_present
from hybridalloc.game.fast.space import hope
from hybridalloc.game.fast.tables import (
    BEGINS_HERE,
    DROP,
    DROPPABLE,
    ENDING,
    FORBIDDEN,
    GOES_ON,
    GROWTH,
    HIGH_WATER,
    HOPES,
    LIVE,
    LONGER,
    NEVER,
    OPTIONS,
    PLACES,
    PREPARED,
    SCORES,
    SECONDS,
    SHIFTS,
    STAYS_ON,
    STEP,
    STUCK,
    TAKEN,
    TURN_OF,
    TURNS,
)
from hybridalloc.game.placing import MOST_SHIFTS
from hybridalloc.incremental.directory import float_row, int_row, ints
from hybridalloc.incremental.edits import accept, begin_move, judge, put, serve_uses
from hybridalloc.incremental.queueing import rekey, unlink_copies
from hybridalloc.incremental.tables import (
    BEGIN,
    BOXES,
    CLOSE,
    CROSS,
    END,
    FIRST_BOX,
    ISSUE,
    KIND,
    LAST,
    OF,
    OFFSET,
    PLACE,
    SLOT_COLUMNS,
    SLOTS,
    SPANS,
    STAY,
    STAYS,
    UNTIL,
)
from hybridalloc.jit import compiled


@compiled
def act(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, action: int
) -> None:
    """Take an action that is prepared and not forbidden.

    After the last step, all stays are ended.
    """
    places = int_row(play, PLACES)
    turn = ints(rules, TURNS)[places[STEP]]
    option = ints(play, OPTIONS)[action]
    slot = int_row(play, LIVE)[turn[TURN_OF]]
    droppable = ints(play, OPTIONS)[DROP, SLOT_COLUMNS] != FORBIDDEN
    int_row(play, TAKEN)[places[STEP]] = action + DROPPABLE * droppable
    begin_move(world, state)
    shift(state, play, action)
    if option[SLOT_COLUMNS] == GOES_ON:
        ints(state, SLOTS)[slot, OFFSET] = option[OFFSET]
        grow(world, state, clocks, rules, play, slot)
    elif option[SLOT_COLUMNS] != STAYS_ON:
        if slot >= 0:
            end_present(world, state, play, slot, places[ENDING])
        int_row(play, LIVE)[turn[TURN_OF]] = -1
        if option[SLOT_COLUMNS] == BEGINS_HERE:
            begin(world, state, clocks, rules, play, option)
    places[STEP] += 1
    places[PREPARED] = 0
    seconds = judge(world, state, clocks)
    accept(world, state, clocks)
    if places[STEP] == ints(rules, TURNS).shape[0]:
        seconds = end_all(world, state, clocks, play, seconds)
    float_row(play, SCORES)[SECONDS] = seconds


@compiled
def shift(state: Ints, play: Ints, action: int) -> None:
    """Shift others as an action has noted."""
    shifts = ints(play, SHIFTS)
    k = action * MOST_SHIFTS
    while k < (action + 1) * MOST_SHIFTS and shifts[k, 0] >= 0:
        ints(state, SLOTS)[shifts[k, 0], OFFSET] = shifts[k, 1]
        k += 1


@compiled
def begin(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, option: Ints
) -> None:
    """Put a stay that begins in its place."""
    row = option[:SLOT_COLUMNS]
    slot = put(world, state, clocks, row, 0.0)
    int_row(play, LIVE)[row[OF]] = slot
    int_row(play, HOPES)[slot] = hope(world, rules, row)
    places = int_row(play, PLACES)
    places[HIGH_WATER] = max(places[HIGH_WATER], slot + 1)


@compiled
def grow(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, slot: int
) -> None:
    """Let the present stay of a buffer serve its next access too."""
    slots, stays = ints(state, SLOTS), ints(world, STAYS)
    row = slots[slot]
    longer, before = ints(rules, GROWTH)[row[STAY], LONGER], row[FIRST_BOX + CLOSE]
    first, last = stays[row[STAY], LAST] + 1, stays[longer, LAST]
    until = hope(world, rules, row)
    if stays[longer, KIND] == CROSS:
        if stays[longer, END] >= row[FIRST_BOX + 4 + BEGIN]:
            unlink_copies(world, state, slot)
            row[BOXES], row[FIRST_BOX + CLOSE] = 1, row[UNTIL]
        else:
            row[FIRST_BOX + CLOSE] = until
        row[STAY] = longer
    else:
        row[UNTIL] = row[FIRST_BOX + CLOSE] = until
        row[STAY] = longer
        ints(state, SPANS)[row[PLACE], 1] = until
        rekey(world, state, slot, until)
    hold(world, state, slot, before, until)
    serve_uses(world, state, clocks, first, last, True)
    int_row(play, HOPES)[slot] = hope(world, rules, row)


@compiled
def end_all(
    world: Ints, state: Ints, clocks: Ints, play: Ints, seconds: float
) -> float:
    """End all stays, as the program ends: what that comes to, in seconds.

    ``Play.places`` tells for which buffer that is impossible, if it is.
    """
    live, places = int_row(play, LIVE), int_row(play, PLACES)
    issues = np.full(live.size, 2**62)
    for buffer in range(live.size):
        if live[buffer] >= 0:
            stay = ints(state, SLOTS)[live[buffer], STAY]
            if ints(world, STAYS)[stay, ISSUE] >= 0:
                issues[buffer] = ints(world, STAYS)[stay, ISSUE]
    for buffer in np.argsort(issues, kind="mergesort"):
        if issues[buffer] == 2**62:
            break
        due = find_due(world, state, clocks, play, live[buffer])
        if due == NEVER:
            places[STUCK] = buffer
            break
        end(world, state, play, live[buffer], due)
        seconds = judge(world, state, clocks)
        accept(world, state, clocks)
    return seconds
