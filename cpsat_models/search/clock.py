"""What a changing map takes, computed anew only where it changed.

Instructions change with their own accesses. Stalls are played by the simulator's own
rules, from the last step before the change at which the state of the queues is kept,
until both queues are empty where they were before: from there on nothing changes.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.cpsat_models.search.directory import float_row, floats, int_row, ints
from hybridalloc.cpsat_models.search.tables import (
    ACCESS_S,
    ACTION,
    ALL_SLOW,
    BYTES,
    CHANGE,
    COMPUTE,
    COPIES,
    DONE_IN,
    DONE_OUT,
    DUE_STEP,
    ELAPSED,
    EMPTY,
    EXIT,
    EXTRA,
    FAST_S,
    FIRST_SEEN,
    FIRST_SEEN_ACCESS,
    FLOOR,
    IDLE,
    ISSUE_STEP,
    ISSUED_IN,
    ISSUED_OUT,
    LINE,
    LOOP_AGAIN,
    LOOP_BEGIN,
    LOOPS,
    MARKS,
    NEXT_DUE,
    NEXT_ISSUED,
    ON_TRIAL,
    PASS,
    POSITION,
    QUEUED,
    RUNNING,
    RUNS,
    SEEN_ACCESS,
    SEEN_S,
    SLOPE,
    SLOW_S,
    SPOTS,
    STALL,
    STALLS,
    STAMPS,
    STEPS,
    SUMS,
    TERMS,
    TIMES,
    TRIAL,
    TRIP_COUNTS,
    USED,
    WHAT,
    WORKS,
)
from hybridalloc.jit import compiled
from hybridalloc.simulator.running import elapsed_time
from hybridalloc.simulator.stalls import (
    AWAITED,
    DONE,
    ISSUED,
    LEFT,
    MOST_STEPS,
    PLAYED,
    advance,
    begin_trip,
    demand,
    end_trip,
    finish,
    issue,
)
from hybridalloc.simulator.stalls import (
    STALL as TRIP_STALL,
)
from hybridalloc.simulator.tape import BEGIN, END, RUN

EVICTED = 4
"""Of the copies of a slot, the one in the queue of evictions."""


@compiled
def time_instruction(
    clock: Ints, fast: Ints, begin: int, end: int, t: int
) -> tuple[float, float]:
    """``Elapsed(t, S)`` and ``Idle(t, S)``, in seconds.

    Args:
        clock: The cost model.
        fast: (accesses,): which accesses fast memory serves.
        begin: The instruction's first access.
        end: The end of its accesses.
        t: The instruction.
    """
    access, terms = floats(clock, ACCESS_S), floats(clock, TERMS)
    slow, quick, fast_bytes, count = terms[t, ALL_SLOW], 0.0, 0.0, 0
    for i in range(begin, end):
        if fast[i]:
            slow -= access[i, SLOW_S]
            quick += access[i, FAST_S]
            fast_bytes += access[i, BYTES]
            count += 1
    slow = max(0.0, slow)
    seen_s = -1.0
    if clock[SEEN_S, 1] > 0:
        seen_s = seen(clock, fast, count, t)
    elapsed = elapsed_time(
        slow,
        quick,
        fast_bytes,
        count > 0,
        seen_s,
        terms[t, COMPUTE],
        terms[t, EMPTY],
        terms[t, EXTRA],
        terms[t, FLOOR],
        terms[t, LINE],
        terms[t, SLOPE],
    )
    return elapsed, max(0.0, elapsed - slow)


@compiled
def seen(clock: Ints, fast: Ints, count: int, t: int) -> float:
    """The further observation of exactly this placement, or -1, in seconds."""
    time_s = -1.0
    for k in range(int_row(clock, FIRST_SEEN)[t], int_row(clock, FIRST_SEEN)[t + 1]):
        differing = count
        for i in range(
            int_row(clock, FIRST_SEEN_ACCESS)[k],
            int_row(clock, FIRST_SEEN_ACCESS)[k + 1],
        ):
            differing += 1 - 2 * fast[int_row(clock, SEEN_ACCESS)[i]]
        if differing == 0:
            time_s = float_row(clock, SEEN_S)[k]
    return time_s


@compiled
def refresh(clock: Ints, fast: Ints, begin: int, end: int, t: int) -> None:
    """Take in that an access of an instruction is served from elsewhere now."""
    elapsed, idle = time_instruction(clock, fast, begin, end, t)
    change = elapsed - floats(clock, TIMES)[t, ELAPSED]
    float_row(clock, SUMS)[RUNNING] += floats(clock, TERMS)[t, RUNS] * change
    floats(clock, TIMES)[t, ELAPSED], floats(clock, TIMES)[t, IDLE] = elapsed, idle


@compiled
def play(world: Ints, state: Ints, clock: Ints, begin: int, until: int) -> None:
    """Play the copies from a step on, until nothing differs from what is kept.

    What comes of it is a trial: ``keep`` makes it final. ``clock.sums`` tells by how
    much stalls change and where the play ended.

    Args:
        world: What does not change.
        state: Its copies.
        clock: The cost model.
        begin: A step outside all loops, before all that has changed.
        until: A step beyond which nothing has changed.
    """
    steps, queued, copies, works = (
        ints(world, STEPS),
        ints(state, QUEUED),
        ints(state, COPIES),
        float_row(state, WORKS),
    )
    marks, trial, times = (
        floats(clock, MARKS),
        floats(clock, TRIAL),
        floats(clock, TIMES),
    )
    spots, stamps = floats(clock, SPOTS), int_row(clock, STAMPS)
    float_row(clock, SUMS)[PASS] += 1
    number = int(float_row(clock, SUMS)[PASS])
    queues, trips, before = start(world, marks, begin)
    stall, depth, step, base, change = 0.0, 0, begin, begin, 0.0
    while True:
        if depth == 0:
            if step > begin:
                trial[base, STALL] = stall
                change += stall - marks[base, STALL]
            if step > until and settled(marks, queues, step):
                break
            stall, base = 0.0, step
            keep_mark(trial, queues, step)
        trips[0, LEFT] -= 1
        waiting = False
        copy = queued[step, 1]
        while copy >= 0:
            if copies[copy, ISSUE_STEP] != step:
                spot = spots[copy, ON_TRIAL if stamps[copy] == number else POSITION]
                demand(queues, int(copy % 5 == EVICTED), spot)
                waiting = True
            copy = copies[copy, NEXT_DUE]
        if waiting:
            stall += finish(queues)
            waiting = False
        copy = queued[step, 0]
        while copy >= 0:
            queue = int(copy % 5 == EVICTED)
            spots[copy, ON_TRIAL] = issue(queues, queue, works[copy])
            stamps[copy] = number
            if copies[copy, DUE_STEP] == step:
                demand(queues, queue, spots[copy, ON_TRIAL])
                waiting = True
            copy = copies[copy, NEXT_ISSUED]
        if waiting:
            stall += finish(queues)
        action = steps[step, ACTION]
        if action == RUN:
            done = queues[0, DONE] + queues[1, DONE]
            advance(queues, times[steps[step, WHAT], IDLE])
            trial[step, USED] = queues[0, DONE] + queues[1, DONE] - done
        elif action == END:
            demand(queues, 0, queues[0, ISSUED])
            demand(queues, 1, queues[1, ISSUED])
            stall += finish(queues)
            trial[base, STALL] = stall
            change += stall - marks[base, STALL]
            step += 1
            break
        else:
            depth, step, stall = turn(world, queues, trips, before, depth, step, stall)
        step += 1
    float_row(clock, SUMS)[CHANGE], float_row(clock, SUMS)[EXIT] = change, step


@compiled
def start(world: Ints, marks: Floats, step: int) -> tuple[Floats, Floats, Floats]:
    """The queues before a step outside all loops, and room for loops."""
    queues = np.zeros((2, 6))
    queues[0, ISSUED], queues[0, DONE] = marks[step, ISSUED_IN], marks[step, DONE_IN]
    queues[1, ISSUED], queues[1, DONE] = marks[step, ISSUED_OUT], marks[step, DONE_OUT]
    queues[0, AWAITED] = queues[1, AWAITED] = -np.inf
    depths = world[LOOPS, 1] + 1
    trips = np.zeros((depths, 3))
    trips[0, LEFT] = MOST_STEPS + 10 * world[STEPS, 1]
    return queues, trips, np.zeros((depths, 2, 6))


@compiled
def turn(
    world: Ints,
    queues: Floats,
    trips: Floats,
    before: Floats,
    depth: int,
    step: int,
    stall: float,
) -> tuple[int, int, float]:
    """Begin a loop, or end one of its trips: the depth, step and stalls from there."""
    steps, loops = ints(world, STEPS), ints(world, LOOPS)
    loop, trip_count = steps[step, WHAT], float_row(world, TRIP_COUNTS)
    if steps[step, ACTION] == BEGIN:
        if trip_count[loop] == 0:
            return depth, loops[loop, LOOP_AGAIN], stall
        depth += 1
        trips[depth, LEFT], trips[depth, PLAYED] = trip_count[loop], 0
    else:
        in_haste = trips[0, LEFT] <= 0
        stall += end_trip(queues, before[depth], trips[depth], stall, in_haste)
        if trips[depth, LEFT] == 0:
            return depth - 1, step, stall
    begin_trip(queues, before[depth])
    trips[depth, TRIP_STALL] = stall
    return depth, loops[loop, LOOP_BEGIN], stall


@compiled
def settled(marks: Floats, queues: Floats, step: int) -> bool:
    """Whether both queues are empty before a step, now and in what is kept."""
    return bool(
        queues[0, ISSUED] == queues[0, DONE]
        and queues[1, ISSUED] == queues[1, DONE]
        and marks[step, ISSUED_IN] == marks[step, DONE_IN]
        and marks[step, ISSUED_OUT] == marks[step, DONE_OUT]
    )


@compiled
def keep_mark(trial: Floats, queues: Floats, step: int) -> None:
    """Note the queues before a step."""
    trial[step, ISSUED_IN], trial[step, DONE_IN] = queues[0, ISSUED], queues[0, DONE]
    trial[step, ISSUED_OUT], trial[step, DONE_OUT] = queues[1, ISSUED], queues[1, DONE]


@compiled
def keep(clock: Ints, queued: Ints, copies: Ints, begin: int) -> None:
    """Make the latest trial final.

    Args:
        clock: The cost model.
        queued: ``State.queued``.
        copies: ``State.copies``.
        begin: The step from which it was played.
    """
    marks, trial, spots = (
        floats(clock, MARKS),
        floats(clock, TRIAL),
        floats(clock, SPOTS),
    )
    for step in range(begin, int(float_row(clock, SUMS)[EXIT])):
        for column in range(marks.shape[1]):
            marks[step, column] = trial[step, column]
        copy = queued[step, 0]
        while copy >= 0:
            spots[copy, POSITION] = spots[copy, ON_TRIAL]
            copy = copies[copy, NEXT_ISSUED]
    float_row(clock, SUMS)[STALLS] += float_row(clock, SUMS)[CHANGE]
