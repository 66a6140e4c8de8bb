"""When the copies of an allocation are issued and due."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.incremental.bodies import outside_after, outside_before
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.tables import (
    CLAIMED_FROM,
    CLAIMED_TO,
    CLAIMS,
    COUNTS,
    IDLE,
    MARKS,
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
