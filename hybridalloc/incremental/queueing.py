"""The copies of a map: where they are issued and due, and how many are outstanding."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.tables import (
    BEGIN,
    BOXES,
    CHANGED_FROM,
    CHANGED_TO,
    COPIES,
    COUNTS,
    CROSS,
    DUE,
    DUE_STEP,
    EVICTED,
    EVICTING,
    FETCHING,
    FIRST_BOX,
    FIRST_STEP,
    FROM,
    HIGH,
    IN_S,
    ISSUE_STEP,
    KEY,
    KIND,
    LOOP_END,
    LOOP_START,
    LOOPS,
    LOW,
    NEXT_DUE,
    NEXT_ISSUED,
    OF,
    OUT,
    OUT_S,
    OUTSIDE,
    OUTSTANDING,
    PER_SLOT,
    POINTS,
    PRODUCED,
    QUEUED,
    READY,
    SLOTS,
    STARTUP_S,
    STAY,
    STAYS,
    STEPS,
    TOP,
    UNIT_SHARE,
    UNTIL,
    WEIGHTS,
    WHAT,
    WORKS,
)
from hybridalloc.jit import compiled

NOBODY = -1


@compiled
def count_copies(world: Ints, state: Ints, slot: int, sign: int) -> None:
    """Count the outstanding copies of a slot."""
    slots, points = ints(state, SLOTS), ints(state, OUTSTANDING)
    stay = slots[slot, STAY]
    if fetches(world, state, slot) and ints(world, STAYS)[stay, KIND] != CROSS:
        for i in range(slots[slot, BOXES]):
            issue = slots[slot, FIRST_BOX + 4 * i + BEGIN]
            for point in range(issue, max(slots[slot, READY], issue + 1)):
                points[point, FETCHING] += sign
    if slots[slot, OUT] >= 0:
        issue = slots[slot, OUT]
        for point in range(issue, max(slots[slot, DUE], issue + 1)):
            points[point, EVICTING] += sign


@compiled
def fetches(world: Ints, state: Ints, slot: int) -> bool:
    """Whether the content of a slot is copied from slow memory."""
    stay = ints(state, SLOTS)[slot, STAY]
    if ints(world, STAYS)[stay, KIND] == CROSS:
        return bool(ints(state, SLOTS)[slot, BOXES] == 2)
    return not ints(world, STAYS)[stay, PRODUCED]


@compiled
def link_copies(world: Ints, state: Ints, slot: int) -> None:
    """Put the copies of a slot where they are issued and due."""
    slots, weights = ints(state, SLOTS), floats(world, WEIGHTS)
    stay, start, until = slots[slot, STAY], slots[slot, FROM], slots[slot, UNTIL]
    startup_s, ready, left = weights[stay, STARTUP_S], slots[slot, READY], 1.0
    copy, boxes = PER_SLOT * slot, slots[slot, BOXES]
    ints(state, COPIES)[copy : copy + PER_SLOT, ISSUE_STEP] = NOBODY
    is_cross = ints(world, STAYS)[stay, KIND] == CROSS
    if is_cross and boxes == 2:
        begin, work_s = slots[slot, FIRST_BOX + 4 + BEGIN], weights[stay, IN_S]
        key = (begin, until, until)
        link(world, state, copy, begin, until, startup_s + work_s, key)
    key = (start, ready, until)
    for i in range(boxes if fetches(world, state, slot) and not is_cross else 0):
        box = FIRST_BOX + 4 * i
        units = slots[slot, box + HIGH] - slots[slot, box + LOW]
        share = left if i == boxes - 1 else units * weights[stay, UNIT_SHARE]
        left -= share
        begin, work_s = slots[slot, box + BEGIN], share * weights[stay, IN_S]
        link(world, state, copy + i, begin, ready, startup_s + work_s, key)
    if slots[slot, OUT] >= 0:
        begin, work_s = slots[slot, OUT], startup_s + weights[stay, OUT_S]
        link(world, state, copy + EVICTED, begin, slots[slot, DUE], work_s, key)


@compiled
def link(
    world: Ints,
    state: Ints,
    copy: int,
    issue: int,
    due: int,
    work_s: float,
    key: tuple[int, int, int],
) -> None:
    """Put a copy in the lists of the steps at which it is issued and due.

    Those issued at one step are in the order of the map: by when their allocations
    start, are ready, and end.
    """
    copies, queued = ints(state, COPIES), ints(state, QUEUED)
    one, two = issue_step(world, issue, due), due_step(world, issue, due)
    copies[copy, ISSUE_STEP], copies[copy, DUE_STEP] = one, two
    for k in range(3):
        copies[copy, KEY + k] = key[k]
    copies[copy, KEY + 3] = ints(state, SLOTS)[copy // PER_SLOT, OF]
    float_row(state, WORKS)[copy] = work_s
    before, after = NOBODY, queued[one, 0]
    while after >= 0 and precedes(copies, after, copy):
        before, after = after, copies[after, NEXT_ISSUED]
    copies[copy, NEXT_ISSUED] = after
    if before >= 0:
        copies[before, NEXT_ISSUED] = copy
    else:
        queued[one, 0] = copy
    copies[copy, NEXT_DUE] = queued[two, 1]
    queued[two, 1] = copy
    change(world, state, one)
    change(world, state, two)


@compiled
def rekey(world: Ints, state: Ints, slot: int, until: int) -> None:
    """Take in that the prefetch of an allocation that is still growing ends later.

    It may now come after others that are issued at the same step.
    """
    copies, copy = ints(state, COPIES), PER_SLOT * slot
    if copies[copy, ISSUE_STEP] == NOBODY:
        return
    ties = False
    other = ints(state, QUEUED)[copies[copy, ISSUE_STEP], 0]
    while other >= 0:
        same = copies[other, KEY + 1] == copies[copy, KEY + 1]
        ties = ties or (same and other != copy)
        other = copies[other, NEXT_ISSUED]
    if ties:
        unlink_copies(world, state, slot)
        link_copies(world, state, slot)
    else:
        copies[copy, KEY + 2] = until


@compiled
def precedes(copies: Ints, one: int, other: int) -> bool:
    """Whether a copy comes before another one that is issued at the same step."""
    for k in range(KEY, KEY + 4):
        if copies[one, k] != copies[other, k]:
            return bool(copies[one, k] < copies[other, k])
    return one < other


@compiled
def issue_step(world: Ints, issue: int, due: int) -> int:
    """The step at which a copy is issued: in the innermost body that it belongs to."""
    points, steps, loops = ints(world, POINTS), ints(world, STEPS), ints(world, LOOPS)
    found = points[issue, OUTSIDE]
    for step in range(points[issue, OUTSIDE], points[issue + 1, FIRST_STEP] - 1):
        if issue < due < loops[steps[step, WHAT], LOOP_END]:
            found = step + 1
    return int(found)


@compiled
def due_step(world: Ints, issue: int, due: int) -> int:
    """The step at which a copy is due: in the innermost body that it belongs to."""
    points, steps, loops = ints(world, POINTS), ints(world, STEPS), ints(world, LOOPS)
    found = points[due, OUTSIDE]
    for step in range(points[due, OUTSIDE] - 1, points[due, FIRST_STEP] - 1, -1):
        if loops[steps[step, WHAT], LOOP_START] < issue < due:
            found = step
    return int(found)


@compiled
def unlink_copies(world: Ints, state: Ints, slot: int) -> None:
    """Take the copies of a slot out of the lists."""
    copies, queued = ints(state, COPIES), ints(state, QUEUED)
    for copy in range(PER_SLOT * slot, PER_SLOT * slot + PER_SLOT):
        if copies[copy, ISSUE_STEP] == NOBODY:
            continue
        for kind in range(2):
            step, next_one = copies[copy, ISSUE_STEP + kind], NEXT_ISSUED + kind
            if queued[step, kind] == copy:
                queued[step, kind] = copies[copy, next_one]
            else:
                before = queued[step, kind]
                while copies[before, next_one] != copy:
                    before = copies[before, next_one]
                copies[before, next_one] = copies[copy, next_one]
            change(world, state, step)


@compiled
def change(world: Ints, state: Ints, step: int) -> None:
    """Remember that something has changed at a step."""
    counts = int_row(state, COUNTS)
    counts[CHANGED_FROM] = min(counts[CHANGED_FROM], ints(world, STEPS)[step, TOP])
    counts[CHANGED_TO] = max(counts[CHANGED_TO], step)
