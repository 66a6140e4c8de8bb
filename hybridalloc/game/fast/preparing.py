"""What each action of the fast game would do."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.beginning import draft, offer, prepare_copy
from hybridalloc.game.fast.evicting import end, find_due
from hybridalloc.game.fast.shifting import make_room
from hybridalloc.game.fast.space import best_fit, block, hope, may_go_on
from hybridalloc.game.fast.tables import (
    BEGINS,
    CHOICES,
    DROP,
    ENDING,
    FORBIDDEN,
    FORCED,
    GOES_ON,
    GROWTH,
    HOPES,
    IS_DROPPED,
    LIVE,
    LONGER,
    MAKES_ROOM,
    NEVER,
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
)
from hybridalloc.game.placing import MOST_SHIFTS
from hybridalloc.incremental.directory import int_row, ints
from hybridalloc.incremental.edits import begin_move
from hybridalloc.incremental.places import NOWHERE
from hybridalloc.incremental.tables import (
    CLOSE,
    CROSS,
    FIRST_BOX,
    ISSUE,
    KIND,
    LAST,
    OFFSET,
    SLOT_COLUMNS,
    SLOTS,
    STAY,
    STAYS,
)
from hybridalloc.jit import compiled


@compiled
def prepare(world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints) -> None:
    """Work out what each action would do, unless that is done."""
    places = int_row(play, PLACES)
    if places[PREPARED] or places[STEP] == ints(rules, TURNS).shape[0]:
        return
    places[PREPARED] = 1
    if prepare_present(world, state, clocks, rules, play):
        prepare_beginning(world, state, clocks, rules, play)


@compiled
def prepare_one(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints, action: int
) -> bool:
    """Work out what one action would do, and of the others what comes with it.

    Whether it is legal; if not, all are worked out.
    """
    places = int_row(play, PLACES)
    option = ints(play, OPTIONS)[action]
    if not places[PREPARED]:
        places[PREPARED] = 1
        may_begin = prepare_present(world, state, clocks, rules, play)
        if may_begin and option[SLOT_COLUMNS] == FORBIDDEN:
            prepare_beginning(world, state, clocks, rules, play)
    return bool(option[SLOT_COLUMNS] != FORBIDDEN)


@compiled
def prepare_present(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints
) -> bool:
    """Work out how the present stay of a buffer may go on or end.

    Whether another one may begin.
    """
    places, options = int_row(play, PLACES), ints(play, OPTIONS)
    places[ENDING] = NEVER
    begin_move(world, state)
    for action in range(options.shape[0]):
        options[action, SLOT_COLUMNS] = FORBIDDEN
        ints(play, SHIFTS)[action * MOST_SHIFTS, 0] = NOWHERE
    turn = ints(rules, TURNS)[places[STEP]]
    use, slot = turn[TURN_USE], int_row(play, LIVE)[turn[TURN_OF]]
    if slot >= 0 and ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], LAST] >= use:
        options[NO_COPY, SLOT_COLUMNS] = STAYS_ON
        return False
    if ints(rules, BEGINS)[use, PRODUCED_BY] < 0 and slot >= 0:
        prepare_going_on(world, state, rules, play, slot)
    if slot >= 0 and ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], ISSUE] >= 0:
        places[ENDING] = find_due(world, state, clocks, play, slot)
        if places[ENDING] == NEVER:
            return False
    options[DROP, SLOT_COLUMNS] = IS_DROPPED
    if int_row(play, FORCED)[places[STEP]]:
        options[NO_COPY, SLOT_COLUMNS] = FORBIDDEN
        return False
    return True


@compiled
def prepare_going_on(
    world: Ints, state: Ints, rules: Ints, play: Ints, slot: int
) -> None:
    """Prepare NoCopy where the present stay of a buffer goes on."""
    present, option = ints(state, SLOTS)[slot], ints(play, OPTIONS)[NO_COPY]
    longer = ints(rules, GROWTH)[present[STAY], LONGER]
    if longer < 0:
        return
    until = hope(world, rules, present)
    if (
        ints(world, STAYS)[longer, KIND] == CROSS
        and until == present[FIRST_BOX + CLOSE]
    ):
        return
    for column in range(SLOT_COLUMNS):
        option[column] = present[column]
    goes_on = may_go_on(world, state, play, slot, until)
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
    count = block(world, state, play, row, until, 0, slot)
    base = best_fit(world, state, row, until, count)
    if base == NOWHERE:
        return make_room(world, state, play, row, until, slot, NO_COPY)
    row[OFFSET] = base
    return True


@compiled
def prepare_beginning(
    world: Ints, state: Ints, clocks: Ints, rules: Ints, play: Ints
) -> None:
    """Prepare the actions by which a stay begins, once the present one has ended."""
    turn = ints(rules, TURNS)[int_row(play, PLACES)[STEP]]
    slot, due = int_row(play, LIVE)[turn[TURN_OF]], int_row(play, PLACES)[ENDING]
    hopes = int_row(play, HOPES)
    hoped = hopes[slot]
    if slot >= 0:
        end_present(world, state, play, slot, due)
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
