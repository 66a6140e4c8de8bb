"""Edits of a map in the making: allocations put in and taken out, and taken back."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.incremental.clock import keep, play
from hybridalloc.incremental.directory import float_row, int_row, ints
from hybridalloc.incremental.instructions import refresh
from hybridalloc.incremental.queueing import (
    change,
    count_copies,
    link_copies,
    unlink_copies,
)
from hybridalloc.incremental.tables import (
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
    FAST,
    FIRST,
    FIRST_ACCESS,
    FIRST_BOX,
    FROM,
    HEADS,
    HIGH,
    INSTRUCTION,
    KIND,
    LAST,
    LIMIT,
    LOAD,
    LOG,
    LOW,
    N_ACTIVE,
    N_CROSSES,
    N_LOGGED,
    N_SPARE,
    NEXT,
    OF,
    PLACE,
    POINTS,
    QUEUED,
    RUN_STEP,
    RUNNING,
    SLOTS,
    SPANS,
    SPARE,
    STALLS,
    STAY,
    STAYS,
    STEPS,
    SUMS,
    UNTIL,
    USES,
    VALUES,
    WEIGHT,
)
from hybridalloc.jit import compiled

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
    stay = ints(world, STAYS)[ints(state, SLOTS)[slot, STAY]]
    serve_uses(world, state, clocks, stay[FIRST], stay[LAST], is_fast)


@compiled
def serve_uses(
    world: Ints, state: Ints, clocks: Ints, first: int, last: int, is_fast: bool
) -> None:
    """Let fast memory serve these accesses of a buffer, or no longer."""
    for use in range(first, last + 1):
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
