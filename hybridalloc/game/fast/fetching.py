"""When the prefetch of a stay is issued in the fast game."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.copying import REACH, TOLERANCE
from hybridalloc.game.fast.tables import CANDIDATES, NEVER
from hybridalloc.incremental.bodies import outside_before
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.edits import judge, serve, serve_uses
from hybridalloc.incremental.queueing import link_copies, unlink_copies
from hybridalloc.incremental.tables import (
    BEGIN,
    BODY,
    BOXES,
    CHANGE,
    COUNTS,
    CROSS,
    FETCHING,
    FIRST,
    FIRST_BOX,
    FIRST_STEP,
    FROM,
    IDLE,
    IN_S,
    KIND,
    LAST,
    LIMITS,
    LOOP_START,
    LOOPS,
    MARKS,
    MOST_FETCHING,
    N_SPARE,
    OUTSTANDING,
    POINTS,
    READY,
    RUNNING,
    RUNS,
    SLOTS,
    SPARE,
    STALL,
    STARTUP_S,
    STAY,
    STAYS,
    STEPS,
    SUMS,
    TERMS,
    TIMES,
    TOP,
    TRIPS,
    UNTIL,
    WEIGHTS,
)
from hybridalloc.jit import compiled

ROUNDING = 1e-9
"""By which share sums of times may be too small."""


@compiled
def enter_trial(world: Ints, state: Ints, clocks: Ints, row: Ints) -> int:
    """Let a stay serve its accesses, in a slot that is not yet in use: the slot."""
    slots = ints(state, SLOTS)
    slot = int_row(state, SPARE)[int_row(state, COUNTS)[N_SPARE] - 1]
    for column in range(row.size):
        slots[slot, column] = row[column]
    serve(world, state, clocks, slot, True)
    return int(slot)


@compiled
def leave_trial(
    world: Ints, state: Ints, clocks: Ints, slot: int, running_s: float
) -> None:
    """Take that back.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost model.
        slot: Of the trial.
        running_s: The sum that the clock had before it.
    """
    serve(world, state, clocks, slot, False)
    float_row(clocks[0], SUMS)[RUNNING] = running_s


@compiled
def seconds_at(world: Ints, state: Ints, clocks: Ints, slot: int, point: int) -> float:
    """What the program takes if the copy of a stay on trial is issued at a point."""
    slots = ints(state, SLOTS)
    if ints(world, STAYS)[slots[slot, STAY], KIND] == CROSS:
        slots[slot, BOXES] = 2
        slots[slot, FIRST_BOX + 4 + BEGIN] = point
    else:
        slots[slot, FROM] = slots[slot, FIRST_BOX + BEGIN] = point
    link_copies(world, state, slot)
    seconds = judge(world, state, clocks)
    unlink_copies(world, state, slot)
    return float(seconds)


@compiled
def latest_issue(
    world: Ints, state: Ints, clocks: Ints, row: Ints, earliest: int
) -> int:
    """The latest point at which stalls do not grow, or ``NEVER``.

    Points are passed over after which there is too little time, idle or in stalls that
    there are anyway, for the copy or to make up for the stalls that it has caused.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost model.
        row: The stay, as if it needed no copy.
        earliest: The first point that counts.
    """
    stays, clock = ints(world, STAYS), clocks[0]
    times, terms = floats(clock, TIMES), floats(clock, TERMS)
    outstanding, limit = ints(state, OUTSTANDING), int_row(world, LIMITS)[MOST_FETCHING]
    is_cross = stays[row[STAY], KIND] == CROSS
    start = row[UNTIL] if is_cross else row[READY]
    body = -1 if is_cross else stays[row[STAY], BODY]
    running_s = float_row(clock, SUMS)[RUNNING]
    slot = enter_trial(world, state, clocks, row)
    base_s = judge(world, state, clocks)
    free_s = max(0.0, float_row(clock, SUMS)[CHANGE]) + stall_s(world, clock, start)
    enough_s, found = work_s(world, clock, row[STAY], body), NEVER
    for point in range(start, earliest - 1, -1):
        if point < start:
            free_s += times[point, IDLE] * terms[point, RUNS]
            free_s += stall_s(world, clock, point)
        if is_cross and point == start:
            continue
        if not is_cross and outstanding[point, FETCHING] >= limit:
            if point < start:
                break
            continue
        if too_late(world, point, body, free_s, enough_s):
            continue
        late_s = seconds_at(world, state, clocks, slot, point) - base_s
        if late_s <= TOLERANCE:
            found = point
            break
        enough_s = max(enough_s, free_s + late_s / 2)
    leave_trial(world, state, clocks, slot, running_s)
    return found


@compiled
def too_late(
    world: Ints, point: int, body: int, free_s: float, enough_s: float
) -> bool:
    """Whether there is not enough time from a point on, or it is in another loop."""
    is_late = free_s * (1 + ROUNDING) < enough_s
    return bool(is_late or outside_before(world, point, body) != point)


@compiled
def stall_s(world: Ints, clock: Ints, point: int) -> float:
    """Stalls at a point, in seconds of one run; at the first of a loop, all there."""
    points, steps = ints(world, POINTS), ints(world, STEPS)
    seconds = 0.0
    for step in range(points[point, FIRST_STEP], points[point + 1, FIRST_STEP]):
        if steps[step, TOP] == step:
            seconds += floats(clock, MARKS)[step, STALL]
    return seconds


@compiled
def work_s(world: Ints, clock: Ints, stay: int, body: int) -> float:
    """The seconds of the prefetches of a stay in one run."""
    weights = floats(world, WEIGHTS)
    if body >= 0:
        begin = ints(world, LOOPS)[body, LOOP_START]
        if floats(clock, TERMS)[begin, RUNS] == 0:
            return 0.0
    once_s = weights[stay, STARTUP_S] + weights[stay, IN_S]
    return float(once_s * weights[stay, TRIPS])


@compiled
def awaited_issue(
    world: Ints,
    state: Ints,
    clocks: Ints,
    play: Ints,
    row: Ints,
    earliest: int,
    longest: int,
) -> tuple[int, float, int, float]:
    """When to issue a copy that may be waited for, and what that costs, in seconds.

    At the latest point at which stalls are as short as at the earliest; and as late as
    may be. Both are ``NEVER`` if there is no point at all. The cost is by how much
    stalls grow less what the longest stay that may come of it would save.
    """
    points = int_row(play, CANDIDATES)
    count = list_issues(world, state, play, row, earliest)
    if count == 0:
        return NEVER, 0.0, NEVER, 0.0
    running_s = float_row(clocks[0], SUMS)[RUNNING]
    worth_s = judge(world, state, clocks)
    last = ints(world, STAYS)[longest, LAST]
    serve_uses(world, state, clocks, ints(world, STAYS)[longest, FIRST], last, True)
    worth_s -= judge(world, state, clocks)
    serve_uses(world, state, clocks, ints(world, STAYS)[longest, FIRST], last, False)
    slot = enter_trial(world, state, clocks, row)
    cost_s = judge(world, state, clocks) + worth_s
    low, high = 0, count - 1
    least = seconds_at(world, state, clocks, slot, points[high]) + TOLERANCE
    while low < high:
        middle = (low + high) // 2
        if seconds_at(world, state, clocks, slot, points[middle]) <= least:
            high = middle
        else:
            low = middle + 1
    one_s = seconds_at(world, state, clocks, slot, points[low]) - cost_s
    other_s = seconds_at(world, state, clocks, slot, points[0]) - cost_s
    leave_trial(world, state, clocks, slot, running_s)
    return int(points[low]), one_s, int(points[0]), other_s


@compiled
def list_issues(world: Ints, state: Ints, play: Ints, row: Ints, earliest: int) -> int:
    """List the points at which a copy may be issued, latest first: how many."""
    points, body = int_row(play, CANDIDATES), ints(world, STAYS)[row[STAY], BODY]
    outstanding, limit = ints(state, OUTSTANDING), int_row(world, LIMITS)[MOST_FETCHING]
    count = 0
    for point in range(row[READY], earliest - 1, -1):
        if outstanding[point, FETCHING] >= limit:
            if point < row[READY]:
                break
        elif outside_before(world, point, body) == point:
            points[count] = point
            count += 1
            if count == REACH:
                break
    return count
