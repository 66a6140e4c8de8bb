"""When a stay of the fast game is copied back, if it has to be."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.copying import TOLERANCE
from hybridalloc.game.fast.space import may_go_on
from hybridalloc.game.fast.tables import CANDIDATES, HOPES, NEVER
from hybridalloc.incremental.bodies import outside_after
from hybridalloc.incremental.directory import int_row, ints
from hybridalloc.incremental.edits import judge
from hybridalloc.incremental.queueing import count_copies, link_copies, unlink_copies
from hybridalloc.incremental.tables import (
    BODY,
    CLOSE,
    DEADLINE,
    DUE,
    END,
    EVICTING,
    FIRST_BOX,
    ISSUE,
    LIMITS,
    LOAD,
    MOST_EVICTING,
    OUT,
    OUTSTANDING,
    PLACE,
    SLOTS,
    SPANS,
    STAY,
    STAYS,
    UNITS,
    UNTIL,
)
from hybridalloc.jit import compiled


@compiled
def end(world: Ints, state: Ints, play: Ints, slot: int, due: int) -> None:
    """Let a stay end with an eviction that is due at a point, or with none."""
    slots = ints(state, SLOTS)
    stay, before = slots[slot, STAY], slots[slot, UNTIL]
    count_copies(world, state, slot, -1)
    unlink_copies(world, state, slot)
    until = max(ints(world, STAYS)[stay, END], due)
    slots[slot, OUT] = NEVER if due == NEVER else ints(world, STAYS)[stay, ISSUE]
    slots[slot, DUE], slots[slot, UNTIL] = due, until
    slots[slot, FIRST_BOX + CLOSE] = until
    ints(state, SPANS)[slots[slot, PLACE], 1] = until
    int_row(play, HOPES)[slot] = until
    hold(world, state, slot, before, until)
    count_copies(world, state, slot, 1)
    link_copies(world, state, slot)


@compiled
def hold(world: Ints, state: Ints, slot: int, before: int, until: int) -> None:
    """Count the units that a stay holds until a point, not until another one."""
    units = ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], UNITS]
    for t in range(before, until):
        int_row(state, LOAD)[t] += units
    for t in range(until, before):
        int_row(state, LOAD)[t] -= units


@compiled
def find_due(world: Ints, state: Ints, clocks: Ints, play: Ints, slot: int) -> int:
    """When the eviction of a stay is best due, or ``NEVER`` if it cannot be.

    The stay is left without one.
    """
    count = list_dues(world, state, play, slot)
    if count == 0:
        return NEVER
    dues, hopes = int_row(play, CANDIDATES), int_row(play, HOPES)
    low, high, hoped = 0, count - 1, hopes[slot]
    end(world, state, play, slot, dues[high])
    least = judge(world, state, clocks) + TOLERANCE
    while low < high:
        middle = (low + high) // 2
        end(world, state, play, slot, dues[middle])
        if judge(world, state, clocks) <= least:
            high = middle
        else:
            low = middle + 1
    end(world, state, play, slot, NEVER)
    hopes[slot] = hoped
    return int(dues[low])


@compiled
def list_dues(world: Ints, state: Ints, play: Ints, slot: int) -> int:
    """List the points at which the eviction of a stay may be due: how many."""
    stays, dues = ints(world, STAYS), int_row(play, CANDIDATES)
    stay = ints(state, SLOTS)[slot, STAY]
    issue, deadline = stays[stay, ISSUE], stays[stay, DEADLINE]
    last = last_free(world, state, play, slot, issue, deadline)
    outstanding, limit = ints(state, OUTSTANDING), int_row(world, LIMITS)[MOST_EVICTING]
    count = 0
    for due in range(issue, last + 1):
        if outstanding[max(issue, due - 1), EVICTING] >= limit:
            break
        if outside_after(world, due, stays[stay, BODY]) == due:
            dues[count] = due
            count += 1
    return count


@compiled
def last_free(
    world: Ints, state: Ints, play: Ints, slot: int, issue: int, last: int
) -> int:
    """The last point until which the place of a stay is free; before issue if none."""
    if may_go_on(world, state, play, slot, last):
        return last
    low, high = issue - 1, last  # free until the first of these, not until the second
    while high - low > 1:
        middle = (low + high) // 2
        if may_go_on(world, state, play, slot, middle):
            low = middle
        else:
            high = middle
    return low
