"""The stalls of one run, compiled (docs/model.md, Time).

Both queues are first in, first out, so that each is two numbers, in seconds of work:
how much was ever issued to it and how much of that is done. A copy is a position,
the work issued when it had joined; it is complete once that much is done. Nothing
here trusts the map: copies that enter or leave a loop are played as they stand.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.jit import compiled
from hybridalloc.simulator.tape import BEGIN, END, RUN, Events, Tape

ISSUED, DONE, AWAITED, LOWEST, SLACK, FORCED = range(6)
"""The columns of ``queues``, whose rows are the two queues: work ever issued, work
done, work that must be done now; and of the present trip of the innermost loop the
least work left, the least work done beyond a copy that was due, and 1 if some copy
that was due was not yet complete."""

LEFT, PLAYED, STALL = range(3)
"""The columns of ``trips``, with a row for each loop around: trips still to run, trips
that were played one by one, and all stalls before the present trip. The row for the
program itself tells in ``LEFT`` how many steps may be played before the simulator
makes haste."""

MOST_TRIPS = 200
"""Valid maps settle within a few trips of a loop. From here on each trip counts as a
repetition of the last one, so that no map holds the simulator up for more trips of a
loop, each time that the loop is reached."""

MOST_STEPS = 10**6
MOST_PASSES = 10
"""The most steps that are played before the simulator makes haste: ``MOST_STEPS``, and
``MOST_PASSES`` for each step of the tape. From there on every trip counts as a
repetition of the present one, at whatever depth, so that the tape is soon at its end.
Valid maps hardly get there: a trip that repeats need not be played again, so loops
within loops do not multiply."""


@compiled
def stall_time(tape: Tape, events: Events, idle: Floats) -> float:
    """All stalls of one run, in seconds.

    Args:
        tape: The program.
        events: The copies of its map.
        idle: (T,) seconds of each instruction that are free for copies.
    """
    action, what, first, event = tape.action, tape.what, events.first, events.event
    work_s, queue = events.work_s, events.queue
    position = np.full(work_s.size, -np.inf)  # of copies not yet issued
    queues, trips, before = begin_program(tape)
    stall, depth, step = 0.0, 0, 0
    while True:
        trips[0, LEFT] -= 1
        waiting = False
        for k in range(first[step], first[step + 1]):
            i = event[k]
            if i < 0:
                demand(queues, queue[~i], position[~i])
                waiting = True
                continue
            if waiting:
                stall += finish(queues)
                waiting = False
            position[i] = issue(queues, queue[i], work_s[i])
        if waiting:
            stall += finish(queues)
        if action[step] == RUN:
            advance(queues, idle[what[step]])
        elif action[step] == END:
            break
        else:
            depth, step, stall = turn(tape, queues, trips, before, depth, step, stall)
        step += 1
    demand(queues, 0, queues[0, ISSUED])
    demand(queues, 1, queues[1, ISSUED])
    return stall + finish(queues)


@compiled
def begin_program(tape: Tape) -> tuple[Floats, Floats, Floats]:
    """Empty queues, no loop around, and room for the queues at the begin of trips."""
    queues = np.zeros((2, 6))
    for queue in range(2):
        queues[queue, AWAITED] = -np.inf
    depths = tape.trips.size + 1
    trips = np.zeros((depths, 3))
    trips[0, LEFT] = MOST_STEPS + MOST_PASSES * tape.action.size
    return queues, trips, np.zeros((depths, 2, 6))


@compiled
def issue(queues: Floats, queue: int, work_s: float) -> float:
    """Let a copy join a queue: its position."""
    queues[queue, ISSUED] += work_s
    return float(queues[queue, ISSUED])


@compiled
def demand(queues: Floats, queue: int, position: float) -> None:
    """Ask for what comes next to wait until a queue has done this much."""
    queues[queue, AWAITED] = max(queues[queue, AWAITED], position)


@compiled
def finish(queues: Floats) -> float:
    """Let both queues advance until what is awaited is done: the stall, in seconds."""
    stall = 0.0
    for queue in range(2):
        need = queues[queue, AWAITED] - queues[queue, DONE]
        queues[queue, SLACK] = min(queues[queue, SLACK], -need)
        if need > 0:
            queues[queue, FORCED] = 1
            left = queues[1 - queue, ISSUED] - queues[1 - queue, DONE]
            stall = max(stall, need + min(need, left))
    if stall > 0:
        advance(queues, stall)
    for queue in range(2):  # rounding may have left a little
        queues[queue, DONE] = max(queues[queue, DONE], queues[queue, AWAITED])
        queues[queue, AWAITED] = -np.inf
    return stall


@compiled
def advance(queues: Floats, seconds: float) -> None:
    """Let the queues work: alone at full speed, both together at half speed each."""
    left0 = queues[0, ISSUED] - queues[0, DONE]
    left1 = queues[1, ISSUED] - queues[1, DONE]
    if left0 == 0 and left1 == 0:
        return
    share = min(seconds / 2, left0, left1)
    most = share + (seconds - 2 * share)
    for queue in range(2):
        issued = queues[queue, ISSUED]
        done = min(issued, queues[queue, DONE] + most)
        queues[queue, DONE] = done
        queues[queue, LOWEST] = min(queues[queue, LOWEST], issued - done)


@compiled
def turn(
    tape: Tape,
    queues: Floats,
    trips: Floats,
    before: Floats,
    depth: int,
    step: int,
    stall: float,
) -> tuple[int, int, float]:
    """``turn_loop`` at a step of the tape."""
    k, begins = tape.what[step], tape.action[step] == BEGIN
    loop = tape.trips[k], tape.loop_begin[k], tape.loop_again[k]
    return turn_loop(begins, loop, queues, trips, before, depth, step, stall)


@compiled
def turn_loop(
    begins: bool,
    loop: tuple[float, int, int],
    queues: Floats,
    trips: Floats,
    before: Floats,
    depth: int,
    step: int,
    stall: float,
) -> tuple[int, int, float]:
    """Begin a loop, or end one of its trips: the depth, step and stalls from there.

    Args:
        begins: Which of the two.
        loop: Its trip count, the step before its body, and the last step of that.
        queues: The state of the queues.
        trips: For each loop around, how far it is.
        before: For each, the queues at the begin of the trip.
        depth: How many loops are around.
        step: The present one.
        stall: All stalls so far.
    """
    trip_count, body, again = loop
    if begins:
        if trip_count == 0:
            return depth, again, stall
        depth += 1
        trips[depth, LEFT], trips[depth, PLAYED] = trip_count, 0
    else:
        in_haste = trips[0, LEFT] <= 0
        stall += end_trip(queues, before[depth], trips[depth], stall, in_haste)
        if trips[depth, LEFT] == 0:
            return depth - 1, step, stall
    begin_trip(queues, before[depth])
    trips[depth, STALL] = stall
    return depth, body, stall


@compiled
def begin_trip(queues: Floats, before: Floats) -> None:
    """Keep what the loop around saw, and start to see anew."""
    for queue in range(2):
        for column in range(queues.shape[1]):
            before[queue, column] = queues[queue, column]
        queues[queue, LOWEST] = queues[queue, ISSUED] - queues[queue, DONE]
        queues[queue, SLACK] = np.inf
        queues[queue, FORCED] = 0


@compiled
def end_trip(
    queues: Floats, before: Floats, trip: Floats, stall: float, in_haste: bool
) -> float:
    """Repeat the trip as often as it is known to repeat: the stalls of that."""
    trip[LEFT] -= 1
    trip[PLAYED] += 1
    times = trip[LEFT] if in_haste else repetitions(queues, before, trip)
    trip[LEFT] -= times
    for queue in range(2):
        issued = queues[queue, ISSUED] - before[queue, ISSUED]
        done = queues[queue, DONE] - before[queue, DONE]
        left = queues[queue, ISSUED] - queues[queue, DONE]
        if left > 0:
            left = max(0.0, left + times * (issued - done))
            queues[queue, ISSUED] += times * issued
            queues[queue, DONE] = queues[queue, ISSUED] - left
        # What the trip saw, the trip of the loop around saw too.
        for column in (LOWEST, SLACK):
            least = min(queues[queue, column], before[queue, column])
            queues[queue, column] = least
        queues[queue, FORCED] = max(queues[queue, FORCED], before[queue, FORCED])
    return float(times * (stall - trip[STALL]))


@compiled
def repetitions(queues: Floats, before: Floats, trip: Floats) -> float:
    """How many of the trips to come are like the present one.

    The last one is not among them, and so is played, if copies issued in the present
    trip are left at its end: those of the last trip must stand where they should.
    A trip depends on the work left in a queue at its begin only through the times at
    which the queue is empty and the stalls for its copies. So a trip whose queues end
    as they began repeats; and one that leaves a queue fuller or emptier repeats with
    the same change as long as that queue never runs empty and none of its copies is
    waited for.
    """
    times = trip[LEFT]
    for queue in range(2):
        issues = queues[queue, ISSUED] > before[queue, ISSUED]
        if issues and queues[queue, ISSUED] > queues[queue, DONE]:
            times = trip[LEFT] - 1
    if times <= 0 or trip[PLAYED] >= MOST_TRIPS:
        return float(max(times, 0.0))
    for queue in range(2):
        change = queues[queue, ISSUED] - queues[queue, DONE]
        change -= before[queue, ISSUED] - before[queue, DONE]
        lowest, slack = queues[queue, LOWEST], queues[queue, SLACK]
        if change != 0 and (queues[queue, FORCED] > 0 or lowest <= 0):
            return 0.0
        if change < 0:
            times = min(times, np.floor(lowest / -change))
        elif change > 0:
            times = min(times, np.floor(slack / change))
    return float(times)
