"""Where a stay is placed in the fast game, with regard to what others may yet need."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.tables import (
    GROWTH,
    HOPES,
    IS_LAST,
    LONGER,
    ROW,
)
from hybridalloc.incremental.directory import int_row, ints
from hybridalloc.incremental.places import (
    NOWHERE,
    bases_until,
    block_reserved,
    fit,
    is_free,
)
from hybridalloc.incremental.tables import (
    ACTIVE,
    BEGIN,
    BLOCKED,
    BOXES,
    CLOSE,
    COUNTS,
    CROSS,
    DEADLINE,
    END,
    FIRST_BOX,
    HIGH,
    KIND,
    LOW,
    N_ACTIVE,
    OFFSET,
    OUT,
    RESERVED,
    SLOTS,
    STAY,
    STAYS,
    UNITS,
)
from hybridalloc.jit import compiled


@compiled
def hope(world: Ints, rules: Ints, row: Ints) -> int:
    """Until when a stay needs its place if it also serves the buffer's next access.

    It is when the first box closes anyway, if that cannot be.
    """
    longer = ints(rules, GROWTH)[row[STAY], LONGER]
    close = row[FIRST_BOX + CLOSE]
    if longer < 0:
        return int(close)
    stays = ints(world, STAYS)
    end = stays[longer, END]
    if stays[longer, KIND] == CROSS:
        if row[BOXES] == 1:
            return int(close)
        tail = row[FIRST_BOX + 4 + BEGIN]
        if end >= tail:
            return int(tail if ints(rules, GROWTH)[longer, IS_LAST] else close)
    return int(max(close, end))


@compiled
def kept_until(world: Ints, state: Ints, play: Ints, slot: int, care: int) -> int:
    """Until when a slot is to have its place, as its first box has it.

    Args:
        world: What does not change.
        state: The map.
        play: Its hopes.
        slot: Which.
        care: 0: as long as its place is taken; 1: if it goes on, too; 2: and if it has
            yet to be copied back, until the latest point for that.
    """
    row, until = ints(state, SLOTS)[slot], int_row(play, HOPES)[slot]
    if care == 0:
        return int(row[FIRST_BOX + CLOSE])
    if care == 2 and row[OUT] < 0:
        return int(max(until, ints(world, STAYS)[row[STAY], DEADLINE]))
    return int(until)


@compiled
def block(
    world: Ints, state: Ints, play: Ints, row: Ints, close: int, care: int, but: int
) -> int:
    """Collect the bases that are blocked for a stay: how many intervals.

    Args:
        world: What does not change.
        state: The map.
        play: Its hopes.
        row: The stay.
        close: When its first box closes.
        care: For how long others are to have their place, as in ``kept_until``.
        but: A slot that blocks nothing.
    """
    slots, active = ints(state, SLOTS), int_row(state, ACTIVE)
    blocked, count, units = ints(state, BLOCKED), 0, row[FIRST_BOX + HIGH]
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        slot = active[k]
        if slot == but:
            continue
        meets = False
        for i in range(slots[slot, BOXES]):
            there = FIRST_BOX + 4 * i
            until = slots[slot, there + CLOSE]
            if i == 0:
                until = kept_until(world, state, play, slot, care)
            for j in range(row[BOXES]):
                here = FIRST_BOX + 4 * j
                end = close if j == 0 else row[here + CLOSE]
                if slots[slot, there + BEGIN] < end and until > row[here + BEGIN]:
                    meets = True
        if meets:
            base = slots[slot, OFFSET]
            blocked[count, 0] = base - units + 1
            blocked[count, 1] = base + slots[slot, FIRST_BOX + HIGH]
            blocked[count, 2] = slot
            count += 1
    return block_reserved(ints(world, RESERVED), row, blocked, count)


@compiled
def find_place(world: Ints, state: Ints, play: Ints, row: Ints) -> bool:
    """Give a stay its offset; whether there is one.

    It is the low end of the smallest gap: best where it is in the way of none that may
    yet stay on or has yet to be copied back, or of none that may stay on, or anywhere.
    """
    close = row[FIRST_BOX + CLOSE]
    for care in (2, 1, 0):
        count = block(world, state, play, row, close, care, NOWHERE)
        base = best_fit(world, state, row, close, count)
        if base != NOWHERE:
            row[OFFSET] = base
            return True
    return False


@compiled
def best_fit(world: Ints, state: Ints, row: Ints, close: int, count: int) -> int:
    """The low end of the smallest gap between blocked ranges, or ``NOWHERE``."""
    least, most = bases_until(world, row, close)
    if least > most:
        return NOWHERE
    return fit(ints(state, BLOCKED), count, least, most, 0)


@compiled
def may_go_on(world: Ints, state: Ints, play: Ints, slot: int, end: int) -> bool:
    """Whether the place of a slot is free for longer.

    Args:
        world: What does not change.
        state: The map.
        play: Its hopes, and room for a slot.
        slot: Which.
        end: Until when; no longer if this is before the end of its first box.
    """
    slots, row = ints(state, SLOTS), int_row(play, ROW)
    begin = slots[slot, FIRST_BOX + CLOSE]
    if end <= begin:
        return True
    row[STAY], row[BOXES] = slots[slot, STAY], 1
    row[FIRST_BOX + LOW] = 0
    row[FIRST_BOX + HIGH] = ints(world, STAYS)[row[STAY], UNITS]
    row[FIRST_BOX + BEGIN] = begin
    count = block(world, state, play, row, end, 0, slot)
    least, most = bases_until(world, row, end)
    return is_free(ints(state, BLOCKED), count, least, most, slots[slot, OFFSET])
