"""What each action of the fast game would do."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.game.copying import TOLERANCE
from hybridalloc.game.fast.evicting import end, find_due
from hybridalloc.game.fast.fetching import NEVER, awaited_issue, latest_issue
from hybridalloc.game.fast.shifting import make_room
from hybridalloc.game.fast.space import best_fit, block, find_place, hope, may_go_on
from hybridalloc.game.fast.tables import (
    BEGINS,
    BEGINS_HERE,
    CHOICES,
    COPY,
    CROSSED_BY,
    DROP,
    ENDING,
    FETCHES,
    FETCHES_FROM,
    FETCHES_TO,
    FORBIDDEN,
    GOES_ON,
    GROWTH,
    HOPES,
    IS_DROPPED,
    IS_LAST,
    LIVE,
    LONGER,
    LONGEST,
    MAKES_ROOM,
    MOST_SHIFTS,
    NO_COPY,
    OPTIONS,
    PLACES,
    PREPARED,
    PRODUCED_BY,
    ROW,
    SHIFTS,
    STAYS_ON,
    STEP,
    TURN_OF,
    TURN_USE,
    TURNS,
    WAITS,
)
from hybridalloc.incremental.directory import int_row, ints
from hybridalloc.incremental.edits import begin_move
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
    ISSUE,
    KIND,
    LAST,
    LIMITS,
    LOW,
    MOST_CROSSES,
    N_CROSSES,
    NEXT,
    OF,
    OFFSET,
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
def prepare(world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints) -> None:
    """Work out what each action would do, unless that is done."""
    places, options = int_row(play, PLACES), ints(play, OPTIONS)
    if places[PREPARED] or places[STEP] == ints(rules, TURNS).shape[0]:
        return
    places[PREPARED], places[ENDING] = 1, NEVER
    begin_move(world, state)
    for action in range(options.shape[0]):
        options[action, SLOT_COLUMNS] = FORBIDDEN
        ints(play, SHIFTS)[action * MOST_SHIFTS, 0] = NOWHERE
    turn = ints(rules, TURNS)[places[STEP]]
    use, slot = turn[TURN_USE], int_row(play, LIVE)[turn[TURN_OF]]
    if slot >= 0 and ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], LAST] >= use:
        options[NO_COPY, SLOT_COLUMNS] = STAYS_ON
        return
    if ints(rules, BEGINS)[use, PRODUCED_BY] < 0 and slot >= 0:
        prepare_going_on(world, state, rules, play, slot)
    if slot >= 0 and ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], ISSUE] >= 0:
        places[ENDING] = find_due(world, state, clocks, play, slot)
        if places[ENDING] == NEVER:
            return
    options[DROP, SLOT_COLUMNS] = IS_DROPPED
    prepare_beginning(world, state, clocks, rules, play, slot)


@compiled
def prepare_going_on(
    world: Ints, state: Ints, rules: Ints, play: Ints, slot: int
) -> None:
    """Prepare NoCopy where the present stay of a buffer goes on."""
    row, options = int_row(play, ROW), ints(play, OPTIONS)
    present = ints(state, SLOTS)[slot]
    longer = ints(rules, GROWTH)[present[STAY], LONGER]
    if longer < 0:
        return
    until = hope(world, rules, present)
    if (
        ints(world, STAYS)[longer, KIND] == CROSS
        and until == present[FIRST_BOX + CLOSE]
    ):
        return
    option = options[NO_COPY]
    for column in range(SLOT_COLUMNS):
        option[column] = present[column]
    goes_on = may_go_on(world, state, play, row, slot, until)
    if not goes_on and int_row(rules, CHOICES)[MAKES_ROOM]:
        mine = option[:SLOT_COLUMNS]
        goes_on = find_other_place(world, state, play, mine, until, slot)
    if goes_on:
        option[SLOT_COLUMNS] = GOES_ON


@compiled
def find_other_place(
    world: Ints, state: Ints, play: Ints, row: Ints, until: int, slot: int
) -> bool:
    """Give a stay that goes on another offset, if need be one that others make free."""
    count = block(world, state, play, row, until, False, slot)
    base = best_fit(world, state, row, until, count)
    if base == NOWHERE:
        return make_room(world, state, play, row, until, slot, NO_COPY)
    row[OFFSET] = base
    return True


@compiled
def prepare_beginning(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, slot: int
) -> None:
    """Prepare the actions by which a stay begins, once the present one has ended."""
    due = int_row(play, PLACES)[ENDING]
    hopes = int_row(play, HOPES)
    hoped = hopes[slot]
    if slot >= 0:
        end_present(world, state, play, slot, due)
    turn = ints(rules, TURNS)[int_row(play, PLACES)[STEP]]
    produced = ints(rules, BEGINS)[turn[TURN_USE], PRODUCED_BY]
    if produced >= 0:
        row = int_row(play, ROW)
        draft(world, row, produced)
        offer(world, state, rules, play, row, NO_COPY)
    else:
        prepare_copy(world, state, clocks, rules, play, turn)
    if slot >= 0:
        if due != NEVER:
            end(world, state, play, slot, NEVER)
        hopes[slot] = hoped


@compiled
def end_present(world: Ints, state: Ints, play: Ints, slot: int, due: int) -> None:
    """Let the present stay of a buffer end, with an eviction if it has a due point."""
    if due != NEVER:
        end(world, state, play, slot, due)
    int_row(play, HOPES)[slot] = ints(state, SLOTS)[slot, FIRST_BOX + CLOSE]


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
