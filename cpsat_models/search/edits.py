"""Edits of a map in the making: allocations put in and taken out, and taken back."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.clock import EVICTED, keep, play, refresh
from hybridalloc.cpsat_models.search.directory import float_row, floats, int_row, ints
from hybridalloc.cpsat_models.search.tables import (
    ACCESS,
    ACTIVE,
    BEGIN,
    BOXES,
    CHANGE,
    CHANGED_FROM,
    CHANGED_TO,
    CLAIMED_FROM,
    CLAIMED_TO,
    CLAIMS,
    CLOSE,
    COPIES,
    COUNTS,
    CROSS,
    DUE,
    DUE_STEP,
    EVICTING,
    FAST,
    FETCHING,
    FIRST,
    FIRST_ACCESS,
    FIRST_BOX,
    FIRST_STEP,
    FROM,
    HEADS,
    HIGH,
    IN_S,
    INSTRUCTION,
    ISSUE_STEP,
    KEY,
    KIND,
    LAST,
    LIMIT,
    LOAD,
    LOG,
    LOOP_END,
    LOOP_START,
    LOOPS,
    LOW,
    N_ACTIVE,
    N_CROSSES,
    N_LOGGED,
    N_SPARE,
    NEXT,
    NEXT_DUE,
    NEXT_ISSUED,
    OF,
    OUT,
    OUT_S,
    OUTSIDE,
    OUTSTANDING,
    PER_SLOT,
    PLACE,
    POINTS,
    PRODUCED,
    QUEUED,
    READY,
    RUN_STEP,
    RUNNING,
    SLOTS,
    SPANS,
    SPARE,
    STALLS,
    STARTUP_S,
    STAY,
    STAYS,
    STEPS,
    SUMS,
    TOP,
    UNIT_SHARE,
    UNTIL,
    USES,
    VALUES,
    WEIGHT,
    WEIGHTS,
    WHAT,
    WORKS,
)
from hybridalloc.jit import compiled

NOBODY = -1
PUT, TAKEN = 1, 0


@compiled
def put(world: Ints, state: Ints, clocks: Ints, row: Ints, value: float) -> int:
    """Put an allocation in: its slot.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost models.
        row: (SLOT_COLUMNS,): the allocation; it fits.
        value: Seconds that it saves.
    """
    counts = int_row(state, COUNTS)
    counts[N_SPARE] -= 1
    slot = int_row(state, SPARE)[counts[N_SPARE]]
    for column in range(row.size):
        ints(state, SLOTS)[slot, column] = row[column]
    float_row(state, VALUES)[slot] = value
    enter(world, state, clocks, slot)
    note(state, slot, PUT)
    return int(slot)


@compiled
def take(world: Ints, state: Ints, clocks: Ints, slot: int) -> None:
    """Take an allocation out."""
    leave(world, state, clocks, slot)
    note(state, slot, TAKEN)


@compiled
def note(state: Ints, slot: int, what: int) -> None:
    """Log an edit."""
    logged = int_row(state, COUNTS)[N_LOGGED]
    ints(state, LOG)[logged, 0], ints(state, LOG)[logged, 1] = slot, what
    int_row(state, COUNTS)[N_LOGGED] += 1


@compiled
def enter(world: Ints, state: Ints, clocks: Ints, slot: int) -> None:
    """Let a slot hold its space and serve its accesses."""
    slots, counts, active = (
        ints(state, SLOTS),
        int_row(state, COUNTS),
        int_row(state, ACTIVE),
    )
    slots[slot, PLACE] = counts[N_ACTIVE]
    active[counts[N_ACTIVE]] = slot
    spans = ints(state, SPANS)
    spans[counts[N_ACTIVE], 0] = slots[slot, FROM]
    spans[counts[N_ACTIVE], 1] = slots[slot, UNTIL]
    counts[N_ACTIVE] += 1
    buffer = slots[slot, OF]
    slots[slot, NEXT] = int_row(state, HEADS)[buffer]
    int_row(state, HEADS)[buffer] = slot
    counts[N_CROSSES] += is_cross(world, state, slot)
    occupy(state, slot, 1)
    serve(world, state, clocks, slot, True)
    count_copies(world, state, slot, 1)
    link_copies(world, state, slot)


@compiled
def leave(world: Ints, state: Ints, clocks: Ints, slot: int) -> None:
    """Let a slot hold and serve nothing."""
    slots, counts, active = (
        ints(state, SLOTS),
        int_row(state, COUNTS),
        int_row(state, ACTIVE),
    )
    counts[N_ACTIVE] -= 1
    last = active[counts[N_ACTIVE]]
    active[slots[slot, PLACE]] = last
    spans = ints(state, SPANS)
    for column in range(2):
        spans[slots[slot, PLACE], column] = spans[counts[N_ACTIVE], column]
    slots[last, PLACE] = slots[slot, PLACE]
    buffer = slots[slot, OF]
    if int_row(state, HEADS)[buffer] == slot:
        int_row(state, HEADS)[buffer] = slots[slot, NEXT]
    else:
        before = int_row(state, HEADS)[buffer]
        while slots[before, NEXT] != slot:
            before = slots[before, NEXT]
        slots[before, NEXT] = slots[slot, NEXT]
    counts[N_CROSSES] -= is_cross(world, state, slot)
    occupy(state, slot, -1)
    serve(world, state, clocks, slot, False)
    count_copies(world, state, slot, -1)
    unlink_copies(world, state, slot)


@compiled
def is_cross(world: Ints, state: Ints, slot: int) -> bool:
    """Whether a slot is a cross-program prefetch."""
    return bool(ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], KIND] == CROSS)


@compiled
def occupy(state: Ints, slot: int, sign: int) -> None:
    """Count the units that a slot holds."""
    slots, load = ints(state, SLOTS), int_row(state, LOAD)
    for i in range(slots[slot, BOXES]):
        box = FIRST_BOX + 4 * i
        units = sign * (slots[slot, box + HIGH] - slots[slot, box + LOW])
        for t in range(slots[slot, box + BEGIN], slots[slot, box + CLOSE]):
            load[t] += units


@compiled
def serve(world: Ints, state: Ints, clocks: Ints, slot: int, is_fast: bool) -> None:
    """Let fast memory serve the accesses of a slot, or no longer."""
    stay = ints(state, SLOTS)[slot, STAY]
    for use in range(
        ints(world, STAYS)[stay, FIRST], ints(world, STAYS)[stay, LAST] + 1
    ):
        t = ints(world, USES)[use, INSTRUCTION]
        int_row(state, FAST)[ints(world, USES)[use, ACCESS]] = is_fast
        begin, end = (
            ints(world, POINTS)[t, FIRST_ACCESS],
            ints(world, POINTS)[t + 1, FIRST_ACCESS],
        )
        for k in range(clocks.shape[0]):
            clock = clocks[k]
            refresh(clock, int_row(state, FAST), begin, end, t)
        change(world, state, ints(world, POINTS)[t, RUN_STEP])


@compiled
def change(world: Ints, state: Ints, step: int) -> None:
    """Remember that something has changed at a step."""
    counts = int_row(state, COUNTS)
    counts[CHANGED_FROM] = min(counts[CHANGED_FROM], ints(world, STEPS)[step, TOP])
    counts[CHANGED_TO] = max(counts[CHANGED_TO], step)


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
    slots = ints(state, SLOTS)
    stay, ready, until = slots[slot, STAY], slots[slot, READY], slots[slot, UNTIL]
    startup_s, copy = floats(world, WEIGHTS)[stay, STARTUP_S], PER_SLOT * slot
    in_s, left = floats(world, WEIGHTS)[stay, IN_S], 1.0
    ints(state, COPIES)[copy : copy + PER_SLOT, ISSUE_STEP] = NOBODY
    if fetches(world, state, slot):
        if ints(world, STAYS)[stay, KIND] == CROSS:
            begin = slots[slot, FIRST_BOX + 4 + BEGIN]
            key = (begin, until, until)
            link(world, state, copy, begin, until, startup_s + in_s, key)
        else:
            for i in range(slots[slot, BOXES]):
                box = FIRST_BOX + 4 * i
                units = slots[slot, box + HIGH] - slots[slot, box + LOW]
                last = i == slots[slot, BOXES] - 1
                share = (
                    left if last else units * floats(world, WEIGHTS)[stay, UNIT_SHARE]
                )
                left -= share
                work_s, key = (
                    startup_s + share * in_s,
                    (slots[slot, FROM], ready, until),
                )
                link(
                    world, state, copy + i, slots[slot, box + BEGIN], ready, work_s, key
                )
    if slots[slot, OUT] >= 0:
        out_s = startup_s + floats(world, WEIGHTS)[stay, OUT_S]
        key = (slots[slot, FROM], ready, until)
        issue, due = slots[slot, OUT], slots[slot, DUE]
        link(world, state, copy + EVICTED, issue, due, out_s, key)


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
def begin_move(world: Ints, state: Ints) -> None:
    """Forget what is no longer needed once a move has been kept or taken back."""
    counts = int_row(state, COUNTS)
    for t in range(counts[CLAIMED_FROM], counts[CLAIMED_TO]):
        float_row(state, CLAIMS)[t] = 0.0
    counts[CLAIMED_FROM], counts[CLAIMED_TO] = float_row(state, CLAIMS).size, 0
    counts[CHANGED_FROM], counts[CHANGED_TO] = ints(world, STEPS).shape[0], 0
    counts[N_LOGGED] = 0


@compiled
def judge(world: Ints, state: Ints, clocks: Ints) -> float:
    """The objective of the map as it is: infinite if a limit is exceeded."""
    begin, until = (
        int_row(state, COUNTS)[CHANGED_FROM],
        int_row(state, COUNTS)[CHANGED_TO],
    )
    total = 0.0
    for k in range(clocks.shape[0]):
        clock = clocks[k]
        play(world, state, clock, begin, until)
        sums = float_row(clock, SUMS)
        seconds = sums[RUNNING] + sums[STALLS] + sums[CHANGE]
        if seconds > sums[LIMIT]:
            return float("inf")
        total += sums[WEIGHT] * seconds
    return total


@compiled
def accept(world: Ints, state: Ints, clocks: Ints) -> None:
    """Keep the move that was judged."""
    counts = int_row(state, COUNTS)
    for k in range(clocks.shape[0]):
        clock = clocks[k]
        keep(clock, ints(state, QUEUED), ints(state, COPIES), counts[CHANGED_FROM])
    for k in range(counts[N_LOGGED]):
        slot = ints(state, LOG)[k, 0]
        if ints(state, LOG)[k, 1] == TAKEN:
            int_row(state, SPARE)[counts[N_SPARE]] = slot
            counts[N_SPARE] += 1
    begin_move(world, state)


@compiled
def undo(world: Ints, state: Ints, clocks: Ints) -> None:
    """Take the move back."""
    counts = int_row(state, COUNTS)
    while counts[N_LOGGED] > 0:
        counts[N_LOGGED] -= 1
        slot = ints(state, LOG)[counts[N_LOGGED], 0]
        if ints(state, LOG)[counts[N_LOGGED], 1] == PUT:
            leave(world, state, clocks, slot)
            int_row(state, SPARE)[counts[N_SPARE]] = slot
            counts[N_SPARE] += 1
        else:
            enter(world, state, clocks, slot)
    begin_move(world, state)
