"""The stalls of a changing map, played anew only where it changed.

By the simulator's own rules, from the last step before the change at which the state of
the queues is kept, until both queues are empty where they were before: from there on
nothing changes.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.incremental.directory import (
    ROWS,
    float_row,
    floats,
    int_row,
    ints,
)
from hybridalloc.incremental.tables import (
    ACTION,
    CHANGE,
    COPIES,
    DONE_IN,
    DONE_OUT,
    DUE_STEP,
    ELAPSED,
    EVICTED,
    EXIT,
    IDLE,
    ISSUE_STEP,
    ISSUED_IN,
    ISSUED_OUT,
    LOOP_AGAIN,
    LOOP_BEGIN,
    LOOPS,
    MARKS,
    NEXT_DUE,
    NEXT_ISSUED,
    ON_TRIAL,
    PASS,
    PER_SLOT,
    POSITION,
    QUEUED,
    RUNNING,
    RUNS,
    SINCE,
    SPOTS,
    STALL,
    STALLS,
    STAMPS,
    STEPS,
    SUMS,
    TERMS,
    TIMES,
    TOP,
    TRIAL,
    TRIP_COUNTS,
    USED,
    WHAT,
    WORKS,
)
from hybridalloc.jit import compiled
from hybridalloc.simulator.stalls import (
    AWAITED,
    DONE,
    ISSUED,
    LEFT,
    MOST_PASSES,
    MOST_STEPS,
    advance,
    demand,
    finish,
    issue,
    turn_loop,
)
from hybridalloc.simulator.tape import BEGIN, END, RUN


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
    steps, marks, trial = ints(world, STEPS), floats(clock, MARKS), floats(clock, TRIAL)
    times, sums = floats(clock, TIMES), float_row(clock, SUMS)
    queued = ints(state, QUEUED)
    sums[PASS] += 1
    queues, trips, before = start(world, marks, begin)
    stall, depth, step, base, change = 0.0, 0, begin, begin, 0.0
    since = marks[begin, SINCE]
    while True:
        if depth == 0:
            if step > begin:
                trial[base, STALL] = stall
                change += stall - marks[base, STALL]
            over = step == steps.shape[0]
            if over or (step > until and settled(marks, queues, step)):
                break
            stall, base = 0.0, step
            since = keep_mark(trial, queues, step, since)
        trips[0, LEFT] -= 1
        if queued[step, 1] >= 0 or queued[step, 0] >= 0:
            stall += meet(world, state, clock, queues, step, since)
        if steps[step, ACTION] == RUN:
            done = queues[0, DONE] + queues[1, DONE]
            advance(queues, times[steps[step, WHAT], IDLE])
            trial[step, USED] = queues[0, DONE] + queues[1, DONE] - done
        elif steps[step, ACTION] == END:
            stall += drain(queues)
        else:
            depth, step, stall = turn(world, queues, trips, before, depth, step, stall)
        step += 1
    sums[CHANGE], sums[EXIT] = change, step


@compiled
def drain(queues: Floats) -> float:
    """Finish all that was issued: the stall."""
    demand(queues, 0, queues[0, ISSUED])
    demand(queues, 1, queues[1, ISSUED])
    return float(finish(queues))


@compiled
def meet(
    world: Ints, state: Ints, clock: Ints, queues: Floats, step: int, since: float
) -> float:
    """Finish the copies that are due at a step, and issue others: the stall there."""
    queued, copies, steps = ints(state, QUEUED), ints(state, COPIES), ints(world, STEPS)
    spots, stamps = floats(clock, SPOTS), int_row(clock, STAMPS)
    works, number = float_row(state, WORKS), int(float_row(clock, SUMS)[PASS])
    stall, waiting = 0.0, False
    copy = queued[step, 1]
    while copy >= 0:
        issued = copies[copy, ISSUE_STEP]
        if issued != step and steps[issued, TOP] >= since:  # else done
            spot = spots[copy, ON_TRIAL if stamps[copy] == number else POSITION]
            demand(queues, int(copy % PER_SLOT == EVICTED), spot)
            waiting = True
        copy = copies[copy, NEXT_DUE]
    if waiting:
        stall += finish(queues)
        waiting = False
    copy = queued[step, 0]
    while copy >= 0:
        queue = int(copy % PER_SLOT == EVICTED)
        spots[copy, ON_TRIAL] = issue(queues, queue, works[copy])
        stamps[copy] = number
        if copies[copy, DUE_STEP] == step:
            demand(queues, queue, spots[copy, ON_TRIAL])
            waiting = True
        copy = copies[copy, NEXT_ISSUED]
    if waiting:
        stall += finish(queues)
    return stall


@compiled
def sum_up(clock: Ints) -> float:
    """The map's time in seconds, its sums taken anew: without what rounding left."""
    times, terms, marks = (
        floats(clock, TIMES),
        floats(clock, TERMS),
        floats(clock, MARKS),
    )
    running, stalls = 0.0, 0.0
    for t in range(times.shape[0]):
        running += terms[t, RUNS] * times[t, ELAPSED]
    for step in range(marks.shape[0]):
        stalls += marks[step, STALL]
    float_row(clock, SUMS)[RUNNING], float_row(clock, SUMS)[STALLS] = running, stalls
    return running + stalls


@compiled
def start(world: Ints, marks: Floats, step: int) -> tuple[Floats, Floats, Floats]:
    """The queues before a step outside all loops, and room for loops."""
    queues = np.zeros((2, 6))
    queues[0, ISSUED], queues[0, DONE] = marks[step, ISSUED_IN], marks[step, DONE_IN]
    queues[1, ISSUED], queues[1, DONE] = marks[step, ISSUED_OUT], marks[step, DONE_OUT]
    queues[0, AWAITED] = queues[1, AWAITED] = -np.inf
    depths = world[LOOPS, ROWS] + 1
    trips = np.zeros((depths, 3))
    trips[0, LEFT] = MOST_STEPS + MOST_PASSES * world[STEPS, ROWS]
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
    """``turn_loop`` at a step of the world."""
    steps, loops = ints(world, STEPS), ints(world, LOOPS)
    k, begins = steps[step, WHAT], steps[step, ACTION] == BEGIN
    trip_count = float_row(world, TRIP_COUNTS)[k]
    loop = trip_count, loops[k, LOOP_BEGIN], loops[k, LOOP_AGAIN]
    return turn_loop(begins, loop, queues, trips, before, depth, step, stall)


@compiled
def settled(marks: Floats, queues: Floats, step: int) -> bool:
    """Whether both queues are empty before a step, now and in what is kept."""
    return bool(
        is_empty(queues)
        and marks[step, ISSUED_IN] == marks[step, DONE_IN]
        and marks[step, ISSUED_OUT] == marks[step, DONE_OUT]
    )


@compiled
def is_empty(queues: Floats) -> bool:
    """Whether all that was issued is done."""
    return bool(
        queues[0, ISSUED] == queues[0, DONE] and queues[1, ISSUED] == queues[1, DONE]
    )


@compiled
def keep_mark(trial: Floats, queues: Floats, step: int, since: float) -> float:
    """Note the queues before a step, and since when they have not been empty."""
    trial[step, SINCE] = step if is_empty(queues) else since
    trial[step, ISSUED_IN], trial[step, DONE_IN] = queues[0, ISSUED], queues[0, DONE]
    trial[step, ISSUED_OUT], trial[step, DONE_OUT] = queues[1, ISSUED], queues[1, DONE]
    return float(trial[step, SINCE])


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
