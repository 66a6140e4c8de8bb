"""When the copies of an allocation are issued and due."""

from __future__ import annotations

from hybridalloc.arrays import Floats, Ints
from hybridalloc.cpsat_models.search.directory import float_row, floats, int_row, ints
from hybridalloc.cpsat_models.search.tables import (
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
def leave_idle(
    times: Floats, marks: Floats, claims: Floats, runs: float, step: int, t: int
) -> float:
    """Seconds of an instruction that no copy uses, in one run of the program."""
    return float(max(0.0, times[t, IDLE] - marks[step, USED] - claims[t]) * runs)


@compiled
def claim(state: Ints, t: int, seconds: float) -> None:
    """Count on idle time until the move has been played."""
    counts = int_row(state, COUNTS)
    float_row(state, CLAIMS)[t] += seconds
    counts[CLAIMED_FROM] = min(counts[CLAIMED_FROM], t)
    counts[CLAIMED_TO] = max(counts[CLAIMED_TO], t + 1)


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
    times, marks, terms = (
        floats(clock, TIMES),
        floats(clock, MARKS),
        floats(clock, TERMS),
    )
    points, claims = ints(world, POINTS), float_row(state, CLAIMS)
    point, reach = due, max(earliest, due - REACH)
    while work_s > 0 and point > reach:
        point -= 1
        runs = terms[point, RUNS]
        step = points[point, RUN_STEP]
        left = leave_idle(times, marks, claims, runs, step, point) / trips
        if left > 0:
            taken = min(left, work_s)
            claim(
                state,
                point,
                taken * trips / max(1.0, floats(clock, TERMS)[point, RUNS]),
            )
            work_s -= taken
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
    times, marks, terms = (
        floats(clock, TIMES),
        floats(clock, MARKS),
        floats(clock, TERMS),
    )
    points, claims = ints(world, POINTS), float_row(state, CLAIMS)
    point, reach = issue, min(deadline, issue + REACH)
    while work_s > 0 and point < reach:
        runs = terms[point, RUNS]
        step = points[point, RUN_STEP]
        left = leave_idle(times, marks, claims, runs, step, point) / trips
        if left > 0:
            taken = min(left, work_s)
            claim(
                state,
                point,
                taken * trips / max(1.0, floats(clock, TERMS)[point, RUNS]),
            )
            work_s -= taken
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
