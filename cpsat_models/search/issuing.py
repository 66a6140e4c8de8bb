"""When the copies of an allocation are issued and due."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.tables import (
    CLAIMED_FROM,
    CLAIMED_TO,
    CLAIMS,
    COUNTS,
    IDLE,
    INNER,
    LOOP_END,
    LOOP_START,
    LOOPS,
    MARKS,
    PARENT,
    POINTS,
    RUN_STEP,
    RUNS,
    TERMS,
    TIMES,
    USED,
)
from hybridalloc.jit import compiled

REACH = 512
"""Instructions in which idle time is looked for, at most."""


@compiled
def foreign(world: Ints, point: int, body: int) -> int:
    """The outermost loop strictly around a point that is not around a body, or -1."""
    loops, found = ints(world, LOOPS), -1
    loop = ints(world, POINTS)[point, INNER]
    while loop >= 0:
        around = body >= 0 and (
            loops[loop, LOOP_START] <= loops[body, LOOP_START]
            and loops[body, LOOP_END] <= loops[loop, LOOP_END]
        )
        if loops[loop, LOOP_START] < point and not around:
            found = loop
        loop = loops[loop, PARENT]
    return int(found)


@compiled
def outside_before(world: Ints, point: int, body: int) -> int:
    """The point, or the start of the loop in the body that it lies within."""
    loop = foreign(world, point, body)
    return int(ints(world, LOOPS)[loop, LOOP_START]) if loop >= 0 else point


@compiled
def outside_after(world: Ints, point: int, body: int) -> int:
    """The point, or the end of the loop in the body that it lies within."""
    loop = foreign(world, point, body)
    return int(ints(world, LOOPS)[loop, LOOP_END]) if loop >= 0 else point


@compiled
def use_idle(
    world: Ints, state: Ints, clock: Ints, t: int, trips: float, work_s: float
) -> float:
    """Claim an instruction's idle time for a copy: the seconds that are still missing.

    Claims hold until the move has been played.

    Args:
        world: What does not change.
        state: Its claims.
        clock: Knows the idle time.
        t: The instruction.
        trips: How often the body of the copy runs.
        work_s: Seconds of the copy that are missing.
    """
    claims, counts = float_row(state, CLAIMS), int_row(state, COUNTS)
    runs, step = floats(clock, TERMS)[t, RUNS], ints(world, POINTS)[t, RUN_STEP]
    idle_s = floats(clock, TIMES)[t, IDLE] - floats(clock, MARKS)[step, USED]
    left_s = (idle_s - claims[t]) * runs / trips
    if left_s <= 0:
        return work_s
    taken_s = min(left_s, work_s)
    claims[t] += taken_s * trips / runs
    counts[CLAIMED_FROM] = min(counts[CLAIMED_FROM], t)
    counts[CLAIMED_TO] = max(counts[CLAIMED_TO], t + 1)
    return float(work_s - taken_s)


@compiled
def issue_before(
    world: Ints,
    state: Ints,
    clock: Ints,
    due: int,
    earliest: int,
    body: int,
    trips: float,
    work_s: float,
) -> tuple[int, float]:
    """The latest point at which a prefetch is done in time; and the seconds missing.

    Args:
        world: What does not change.
        state: Its claims.
        clock: Knows the idle time.
        due: Point.
        earliest: Point.
        body: Where the copy is.
        trips: How often that runs.
        work_s: Seconds of the copy.
    """
    point, reach = due, max(earliest, due - REACH)
    while work_s > 0 and point > reach:
        point -= 1
        work_s = use_idle(world, state, clock, point, trips, work_s)
    return outside_before(world, point, body), max(0.0, work_s)


@compiled
def due_after(
    world: Ints,
    state: Ints,
    clock: Ints,
    issue: int,
    deadline: int,
    body: int,
    trips: float,
    work_s: float,
) -> tuple[int, float]:
    """The earliest point at which an eviction is done; and the seconds missing.

    Args:
        world: What does not change.
        state: Its claims.
        clock: Knows the idle time.
        issue: Point.
        deadline: Point.
        body: Where the copy is.
        trips: How often that runs.
        work_s: Seconds of the copy.
    """
    point, reach = issue, min(deadline, issue + REACH)
    while work_s > 0 and point < reach:
        work_s = use_idle(world, state, clock, point, trips, work_s)
        point += 1
    return outside_after(world, point, body), max(0.0, work_s)


@compiled
def may_copy(
    outstanding: Ints, queue: int, issue: int, due: int, limit: int, count: int
) -> bool:
    """Whether so many more copies may be outstanding from one point to another.

    Args:
        outstanding: ``State.outstanding``.
        queue: Its column.
        issue: Point.
        due: Point.
        limit: How many may be.
        count: How many more.
    """
    for point in range(issue, max(due, issue + 1)):
        if outstanding[point, queue] + count > limit:
            return False
    return True
