"""Drafts: the allocation of a stay as it would be placed now, but for its offset."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.issuing import (
    due_after,
    issue_before,
    may_copy,
)
from hybridalloc.incremental.bodies import outside_after, outside_before
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.tables import (
    ACCESS,
    ACCESSED,
    BEGIN,
    BODY,
    BOXES,
    BUFFER,
    CLAIMS,
    CLOSE,
    COUNTS,
    CROSS,
    DEADLINE,
    DRAFT,
    DUE,
    EARLIEST,
    END,
    EVICTING,
    FETCHING,
    FIRST,
    FIRST_BOX,
    FROM,
    HEADS,
    HIGH,
    IN_S,
    ISSUE,
    KIND,
    LAST,
    LIMITS,
    LOW,
    MOST_BOXES,
    MOST_CROSSES,
    MOST_EVICTING,
    MOST_FETCHING,
    MOST_SLICES,
    N_CROSSES,
    NEXT,
    OF,
    OUT,
    OUT_S,
    OUTSTANDING,
    PRODUCED,
    READY,
    SLOTS,
    START,
    STARTUP_S,
    STAY,
    STAYS,
    TRIPS,
    UNITS,
    UNTIL,
    USES,
    WEIGHTS,
)
from hybridalloc.jit import compiled

SLICED = 0.15
"""How often a prefetch is sliced where it may be."""
EARLY = 0.3
"""How often it is issued earlier than need be."""
LATE = 0.1
LATE_ANYWAY = 0.6
"""How often a copy has less time than it takes, for the sake of space: where there is
idle time for it, and where there is not."""
ALWAYS = 0.3
"""How often a cross-program prefetch is held all the time."""


@compiled
def limits(world: Ints, state: Ints, stay: int) -> tuple[int, int, bool]:
    """The first issue and last due point that other stays of the buffer leave one.

    And whether it shares no access with any of them.
    """
    stays, slots = ints(world, STAYS), ints(state, SLOTS)
    earliest, deadline = stays[stay, EARLIEST], stays[stay, DEADLINE]
    first, last, issue = stays[stay, FIRST], stays[stay, LAST], stays[stay, ISSUE]
    slot = int_row(state, HEADS)[stays[stay, BUFFER]]
    while slot >= 0:
        other = slots[slot, STAY]
        if stays[other, LAST] < first:
            if slots[slot, OUT] >= 0:
                at_once = slots[slot, OUT] == slots[slot, DUE]
                earliest = max(earliest, slots[slot, DUE] + at_once)
        elif stays[other, FIRST] > last:
            start = slots[slot, FROM]
            deadline = min(deadline, start if issue < start else start - 1)
        else:
            return earliest, deadline, False
        slot = slots[slot, NEXT]
    return earliest, deadline, True


@compiled
def draft(
    world: Ints,
    state: Ints,
    clock: Ints,
    stay: int,
    may_stall: bool,
    random: np.random.Generator,
) -> bool:
    """Draft an allocation, in ``state.draft``; whether it is within the rules.

    Args:
        world: What does not change.
        state: The map.
        clock: Tells of idle time.
        stay: Which.
        may_stall: Whether the program may wait for its copies.
        random: Draws when to issue copies.
    """
    if ints(world, STAYS)[stay, KIND] == CROSS:
        return draft_cross(world, state, clock, stay, random)
    row, stays = int_row(state, DRAFT), ints(world, STAYS)
    earliest, deadline, alone = limits(world, state, stay)
    if not alone:
        return False
    start = stays[stay, START]
    row[STAY], row[OF], row[READY] = stay, stays[stay, BUFFER], start
    row[FROM], row[UNTIL] = start, stays[stay, END]
    row[OUT] = row[DUE] = -1
    row[BOXES], row[FIRST_BOX + LOW] = 1, 0
    row[FIRST_BOX + HIGH] = stays[stay, UNITS]
    row[FIRST_BOX + BEGIN] = start
    if not stays[stay, PRODUCED] and not draft_prefetch(
        world, state, clock, earliest, may_stall, random
    ):
        return False
    if stays[stay, ISSUE] >= 0 and not draft_eviction(
        world, state, clock, deadline, may_stall, random
    ):
        return False
    for i in range(row[BOXES]):
        row[FIRST_BOX + 4 * i + CLOSE] = row[UNTIL]
    return True


@compiled
def draft_prefetch(
    world: Ints,
    state: Ints,
    clock: Ints,
    earliest: int,
    may_stall: bool,
    random: np.random.Generator,
) -> bool:
    """Draft the prefetch of the allocation; whether it is within the rules."""
    row, weights = int_row(state, DRAFT), floats(world, WEIGHTS)
    stay = row[STAY]
    body, units = ints(world, STAYS)[stay, BODY], ints(world, STAYS)[stay, UNITS]
    earliest = outside_after(world, earliest, body)
    if earliest > row[READY]:
        return False
    count = min(int_row(world, LIMITS)[MOST_SLICES], max(1, units), MOST_BOXES)
    if random.random() >= SLICED:
        count = 1
    haste = 1 + 2 * random.random() if random.random() < EARLY else 1.0
    ascending, point = random.random() < 0.5, row[READY]
    for k in range(count):
        i = k if ascending else count - 1 - k
        box = FIRST_BOX + 4 * i
        row[box + LOW], row[box + HIGH] = units * i // count, units * (i + 1) // count
        work_s = haste * (weights[stay, STARTUP_S] + weights[stay, IN_S] / count)
        trips = weights[stay, TRIPS]
        point, rest_s = issue_before(
            world, state, clock, point, earliest, body, trips, work_s
        )
        if rest_s > 0 and not may_stall:
            return False
        if may_stall and random.random() < (LATE if rest_s == 0 else LATE_ANYWAY):
            last = row[READY] if k == 0 else row[FROM]
            point += int(random.random() * (last - point + 1))
            point = outside_before(world, point, body)
        row[box + BEGIN] = row[FROM] = point
    row[BOXES] = count
    fetching, limit = ints(state, OUTSTANDING), int_row(world, LIMITS)[MOST_FETCHING]
    return may_copy(fetching, FETCHING, point, row[READY], limit, count)


@compiled
def draft_eviction(
    world: Ints,
    state: Ints,
    clock: Ints,
    deadline: int,
    may_stall: bool,
    random: np.random.Generator,
) -> bool:
    """Draft the eviction of the allocation; whether it is within the rules."""
    row, weights = int_row(state, DRAFT), floats(world, WEIGHTS)
    stay = row[STAY]
    issue, body = ints(world, STAYS)[stay, ISSUE], ints(world, STAYS)[stay, BODY]
    if deadline < issue:
        return False
    work_s = weights[stay, STARTUP_S] + weights[stay, OUT_S]
    trips = weights[stay, TRIPS]
    due, rest_s = due_after(world, state, clock, issue, deadline, body, trips, work_s)
    if due > deadline or (rest_s > 0 and not may_stall):
        return False
    if may_stall and random.random() < (LATE if rest_s == 0 else LATE_ANYWAY):
        due = issue + int(random.random() * (due - issue + 1))
        due = min(deadline, outside_after(world, due, body))
    row[OUT], row[DUE], row[UNTIL] = issue, due, max(row[UNTIL], due)
    evicting, limit = ints(state, OUTSTANDING), int_row(world, LIMITS)[MOST_EVICTING]
    return may_copy(evicting, EVICTING, issue, due, limit, 1)


@compiled
def draft_cross(
    world: Ints, state: Ints, clock: Ints, stay: int, random: np.random.Generator
) -> bool:
    """Draft a cross-program prefetch: held all the time, or a head and a tail."""
    row, stays = int_row(state, DRAFT), ints(world, STAYS)
    _, _, alone = limits(world, state, stay)
    if (
        not alone
        or int_row(state, COUNTS)[N_CROSSES] >= int_row(world, LIMITS)[MOST_CROSSES]
    ):
        return False
    head, last = stays[stay, END], float_row(state, CLAIMS).size
    row[STAY], row[OF], row[READY] = stay, stays[stay, BUFFER], 0
    row[FROM], row[UNTIL], row[OUT], row[DUE] = 0, last, -1, -1
    row[BOXES], row[FIRST_BOX + LOW] = 1, 0
    row[FIRST_BOX + HIGH] = stays[stay, UNITS]
    row[FIRST_BOX + BEGIN], row[FIRST_BOX + CLOSE] = 0, last
    is_all = serves_all(world, stay)
    if is_all and random.random() < ALWAYS:
        return True
    weights = floats(world, WEIGHTS)
    work_s = weights[stay, STARTUP_S] + weights[stay, IN_S]
    tail, rest_s = issue_before(world, state, clock, last, head, -1, 1.0, work_s)
    if rest_s == 0 and head < tail < last:
        row[BOXES], row[FIRST_BOX + CLOSE] = 2, head
        for column in range(2):
            row[FIRST_BOX + 4 + column] = row[FIRST_BOX + column]
        row[FIRST_BOX + 4 + BEGIN], row[FIRST_BOX + 4 + CLOSE] = tail, last
        return True
    return is_all


@compiled
def serves_all(world: Ints, stay: int) -> bool:
    """Whether the buffer of a stay has no later accesses."""
    uses, after = ints(world, USES), ints(world, STAYS)[stay, LAST] + 1
    if after == uses.shape[0]:
        return True
    buffer = int_row(world, ACCESSED)[uses[after, ACCESS]]
    return bool(buffer != ints(world, STAYS)[stay, BUFFER])


@compiled
def redraft(world: Ints, state: Ints, slot: int) -> bool:
    """Draft what was in a slot, as it was; whether it is still within the rules."""
    row, stays = int_row(state, DRAFT), ints(world, STAYS)
    for column in range(row.size):
        row[column] = ints(state, SLOTS)[slot, column]
    stay = row[STAY]
    earliest, deadline, alone = limits(world, state, stay)
    if not alone:
        return False
    if stays[stay, KIND] == CROSS:
        return bool(
            int_row(state, COUNTS)[N_CROSSES] < int_row(world, LIMITS)[MOST_CROSSES]
        )
    return may_redraft(world, state, row, earliest, deadline)


@compiled
def may_redraft(
    world: Ints, state: Ints, row: Ints, earliest: int, deadline: int
) -> bool:
    """Whether the copies of an allocation are within the rules."""
    outstanding, most = ints(state, OUTSTANDING), int_row(world, LIMITS)
    limit, count = most[MOST_FETCHING], row[BOXES]
    if not ints(world, STAYS)[row[STAY], PRODUCED] and not (
        earliest <= row[FROM]
        and may_copy(outstanding, FETCHING, row[FROM], row[READY], limit, count)
    ):
        return False
    if row[OUT] < 0:
        return True
    issue, due = row[OUT], row[DUE]
    may = may_copy(outstanding, EVICTING, issue, due, most[MOST_EVICTING], 1)
    return bool(may and due <= deadline)
