"""The tables: a problem and a map in the making, as arrays.

A table has a row for each thing and a column for each of its properties; the columns
are named here, and the tables' places in their directories (``directory``).
"""

from __future__ import annotations

from typing import NamedTuple

from hybridalloc.arrays import Floats, Ints

# Tables of World, State and Clock, in the order of their fields.
STAYS, WEIGHTS, USES, OF_BUFFER, ACCESSED, POINTS, LOOPS = range(7)
TRIP_COUNTS, STEPS, RESERVED, LIMITS, CROSSINGS = range(7, 12)

SLOTS, VALUES, ACTIVE, SPANS, SPARE, HEADS, FAST, LOAD, OUTSTANDING = range(9)
CLAIMS, QUEUED, COPIES, WORKS, LOG, COUNTS, BLOCKED, DRAFT = range(9, 17)

ACCESS_S, TERMS, FIRST_SEEN, SEEN_S, FIRST_SEEN_ACCESS, SEEN_ACCESS = range(6)
TIMES, MARKS, TRIAL, SPOTS, STAMPS, SUMS = range(6, 12)

# Columns of World.stays.
BUFFER, FIRST, LAST, START, END, EARLIEST, PRODUCED, ISSUE, DEADLINE = range(9)
BODY, KIND, UNITS, FIXED, UNTOUCHED = range(9, 14)
STAY_COLUMNS = 14
USUAL, CROSS = range(2)
"""What a stay may be: a cross-program prefetch, or not."""

# Columns of World.weights.
COST, IN_S, OUT_S, STARTUP_S, TRIPS, UNIT_SHARE = range(6)

# Columns of World.uses.
INSTRUCTION, ACCESS = range(2)

# Columns of World.points.
FIRST_ACCESS, RUN_STEP, FIRST_STEP, OUTSIDE, INNER, SCRATCH, FROM_HERE = range(7)

# Columns of World.loops.
LOOP_START, LOOP_END, PARENT, LOOP_BEGIN, LOOP_AGAIN = range(5)

# Places in World.limits.
CAPACITY, MOST_FETCHING, MOST_EVICTING, MOST_CROSSES, MOST_SLICES, HAS_SCRATCH = range(
    6
)

# Columns of World.steps.
ACTION, WHAT, TOP = range(3)

# Columns of State.slots, the allocations; from FIRST_BOX on, four for each box.
STAY, OF, OFFSET, FROM, READY, UNTIL, OUT, DUE, BOXES, NEXT, PLACE = range(11)
FIRST_BOX = 11
LOW, HIGH, BEGIN, CLOSE = range(4)
MOST_BOXES = 4
SLOT_COLUMNS = FIRST_BOX + 4 * MOST_BOXES
PER_SLOT = MOST_BOXES + 1
"""Copies of a slot: of each of its boxes, and its eviction."""
EVICTED = MOST_BOXES
"""Which of them that is."""

# Columns of State.outstanding.
FETCHING, EVICTING = range(2)

# Columns of State.copies.
ISSUE_STEP, DUE_STEP, NEXT_ISSUED, NEXT_DUE, KEY = range(5)
COPY_COLUMNS = KEY + 4

# Places in State.counts.
N_ACTIVE, N_SPARE, N_LOGGED, CHANGED_FROM, CHANGED_TO, CLAIMED_FROM, CLAIMED_TO = range(
    7
)
N_CROSSES = 7
COUNT_COLUMNS = 8

# Columns of Clock.terms.
COMPUTE, EMPTY, EXTRA, FLOOR, LINE, SLOPE, ALL_SLOW, RUNS, LEAST = range(9)
# Columns of Clock.access_s.
SLOW_S, FAST_S, BYTES = range(3)
# Columns of Clock.times.
ELAPSED, IDLE = range(2)
# Columns of Clock.marks: the queues before a step outside all loops, the stall there,
# what the copy engine does during it, and since which step some copy was always queued.
ISSUED_IN, DONE_IN, ISSUED_OUT, DONE_OUT, STALL, USED, SINCE = range(7)
# Columns of Clock.spots.
POSITION, ON_TRIAL = range(2)
# Places in Clock.sums.
RUNNING, STALLS, CHANGE, EXIT, PASS, WEIGHT, LIMIT = range(7)


class World(NamedTuple):
    """What does not change."""

    stays: Ints
    """(stays, STAY_COLUMNS): by start. Uses are counted over all buffers, sizes in
    units of the alignment; a body is a loop or -1; what is untouched stays as it is."""
    weights: Floats
    """(stays, 6): what a search takes a stay to cost, seconds of its copies in and out
    and before their first byte, how often its body runs, and a unit's share of it."""
    uses: Ints
    """(uses, 2): by buffer, in schedule order."""
    of_buffer: Ints
    """(buffers + 1 + stays,): where the stays of each buffer begin, then those."""
    accessed: Ints
    """(accesses,): the buffer of each access, by instruction."""
    points: Ints
    """(T + 2, 7): the first access, the step of the instruction, the first step, the
    step outside loops that begin or end there, the innermost loop around, the units of
    scratch, and the first stay that starts there or later."""
    loops: Ints
    """(loops, 5): start, end, the loop around or -1, and the steps before the body and
    at its end."""
    trip_counts: Floats
    """(loops,)"""
    steps: Ints
    """(steps, 3): the action, what of, and the step outside all loops that it is
    within."""
    reserved: Ints
    """(ranges, 2): units, half-open."""
    limits: Ints
    """(6,): units of fast memory, outstanding prefetches and evictions, cross-program
    prefetches, slices, and 1 if any instruction needs scratch."""
    crossings: Ints
    """(stays that are cross-program prefetches,)"""


class Clock(NamedTuple):
    """What a map takes under one cost model."""

    access_s: Floats
    """(accesses, 3): seconds in slow memory, in fast memory, bytes."""
    terms: Floats
    """(T, 9): the coefficients of ``Costs``, how often an instruction runs, and the
    least that it takes with everything in fast memory."""
    first_seen: Ints
    seen_s: Floats
    first_seen_access: Ints
    seen_access: Ints
    """The last four: further observations, as in ``Costs``."""
    times: Floats
    """(T, 2): the time and the idle time of each instruction, in seconds."""
    marks: Floats
    """(steps + 1, 7): by the columns above."""
    trial: Floats
    """(steps + 1, 7): the same for changes that are not yet kept."""
    spots: Floats
    """(copies, 2): the position of each copy in its queue, kept and not yet kept."""
    stamps: Ints
    """(copies,): the pass that found the latter."""
    sums: Floats
    """(7,): by the places above."""


class State(NamedTuple):
    """A map in the making, with all that changes."""

    slots: Ints
    """(slots, SLOT_COLUMNS): allocations; those of one cross-program prefetch are one
    slot. Boxes are relative to the offset, which is in units."""
    values: Floats
    """(slots,): seconds that each saved when it was placed."""
    active: Ints
    """(slots,): those in use, in any order."""
    spans: Ints
    """(slots, 2): when each of those begins and ends."""
    spare: Ints
    """(slots,): those not in use."""
    heads: Ints
    """(buffers,): a slot of each buffer, or -1; ``NEXT`` leads on."""
    fast: Ints
    """(accesses,): 1 where fast memory serves it."""
    load: Ints
    """(T,): units held."""
    outstanding: Ints
    """(T + 1, 2): prefetches and evictions."""
    claims: Floats
    """(T,): idle time taken by copies placed in the present move."""
    queued: Ints
    """(steps, 2): the first copy issued, and due, at each step, or -1."""
    copies: Ints
    """(PER_SLOT * slots, COPY_COLUMNS)"""
    works: Floats
    """(PER_SLOT * slots,): seconds of each copy."""
    log: Ints
    """(enough, 2): slots that were put in (1) or taken out (0) in the present move."""
    counts: Ints
    """(COUNT_COLUMNS,)"""
    blocked: Ints
    """(enough, 3): bases that are taken: from, until, by which slot."""
    draft: Ints
    """(SLOT_COLUMNS,): an allocation to be placed."""
