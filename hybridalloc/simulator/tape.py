"""The program as a tape of steps, and where on it the copies of a map happen.

Which step a point means depends on the copy: its ends belong to the innermost loop
body that holds them (docs/model.md, Loops).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled
from hybridalloc.program import Program
from hybridalloc.simulator.map_arrays import MapArrays

RUN, BEGIN, AGAIN, END = range(4)
"""What a step of the tape does: run an instruction, begin a loop, return to the begin
of its body, end the program."""


class Tape(NamedTuple):
    """The program as steps: at each, copies are finished and issued, then it acts.

    At one point come the ends of loops, innermost first, then what is outside them,
    then the begins of loops, outermost first.
    """

    action: Ints
    """(steps,): ``RUN``, ``BEGIN``, ``AGAIN`` or ``END``."""
    what: Ints
    """(steps,): the instruction, or the loop."""
    runs: Floats
    """(steps,): how often one run of the program comes by."""
    first: Ints
    """(T+2,): steps ``first[p]`` to ``first[p+1]`` are those of point p."""
    outside: Ints
    """(T+1,): the step of each point that is outside loops that begin or end there."""
    loop_start: Ints
    """(loops,): point."""
    loop_end: Ints
    """(loops,): point."""
    loop_begin: Ints
    """(loops,): the step before the body."""
    loop_again: Ints
    """(loops,): the last step of the body."""
    trips: Floats
    """(loops,): trip counts."""


class Events(NamedTuple):
    """The copies of one map, and what happens to them at the steps of the tape.

    At one step first copies issued before are due, then new ones are issued, in the
    map's order, then those of them that are due at once are.
    """

    work_s: Floats
    """(copies,): seconds that the copy engine needs."""
    queue: Ints
    """(copies,): ``PREFETCH`` or ``EVICTION``."""
    first: Ints
    """(steps+1,): events ``first[s]`` to ``first[s+1]`` are those of step s."""
    event: Ints
    """(2*copies,): i where copy i is issued, and ``~i`` where it is due."""


def build_tape(program: Program) -> Tape:
    """The steps of a program."""
    last = len(program)
    begins: list[list[int]] = [[] for _ in range(last + 1)]  # outermost first
    ends: list[list[int]] = [[] for _ in range(last + 1)]  # innermost first
    for index, loop in enumerate(program.loops):
        begins[loop.start].append(index)
        ends[loop.end].insert(0, index)
    steps: list[tuple[int, int]] = []
    first, outside = [], []
    for point in range(last + 1):
        first.append(len(steps))
        steps += [(AGAIN, index) for index in ends[point]]
        outside.append(len(steps))
        steps += [(BEGIN, index) for index in begins[point]]
        steps.append((RUN if point < last else END, point))
    place = {step: i for i, step in enumerate(steps)}
    loops = range(len(program.loops))
    return Tape(
        action=_ints([action for action, _ in steps]),
        what=_ints([what for _, what in steps]),
        runs=_step_runs(steps, program),
        first=_ints([*first, len(steps)]),
        outside=_ints(outside),
        loop_start=_ints([loop.start for loop in program.loops]),
        loop_end=_ints([loop.end for loop in program.loops]),
        loop_begin=_ints([place[BEGIN, index] for index in loops]),
        loop_again=_ints([place[AGAIN, index] for index in loops]),
        trips=np.array([loop.trip_count for loop in program.loops], dtype=np.float64),
    )


def _step_runs(steps: list[tuple[int, int]], program: Program) -> Floats:
    """(steps,): the product of the trip counts of the loops around each step."""
    runs, around = [], [1]
    for action, what in steps:
        runs.append(around[-1])
        if action == BEGIN:
            around.append(around[-1] * program.loops[what].trip_count)
        elif action == AGAIN:
            around.pop()
    return np.array(runs, dtype=np.float64)


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


@compiled
def sort_copies(
    tape: Tape, startup_s: float, rates: Floats, map_arrays: MapArrays
) -> tuple[Floats, Ints, Ints, Ints]:
    """The copies of a map, by step: the fields of ``Events``.

    Args:
        tape: The program.
        startup_s: Seconds that each copy takes before its first byte.
        rates: (2,) bytes a second of prefetches and evictions.
        map_arrays: The map.
    """
    issue, due = map_arrays.copy_issue, map_arrays.copy_due
    count, steps = issue.size, tape.action.size
    # Three ranks a step: due, issued, due at once.
    ranks = np.empty(2 * count, np.int64)
    issue_ranks(tape, issue, due, ranks)
    due_ranks(tape, issue, due, ranks)
    first, event = sort_ranks(ranks, steps)
    work_s = np.empty(count)
    for i in range(count):
        work_s[i] = (
            startup_s + map_arrays.copy_bytes[i] / rates[map_arrays.copy_queue[i]]
        )
    return work_s, map_arrays.copy_queue, first, event


@compiled
def issue_ranks(tape: Tape, issue: Ints, due: Ints, ranks: Ints) -> None:
    """Put copies where they are issued: in the innermost body that they belong to."""
    what, first, outside, loop_end = tape.what, tape.first, tape.outside, tape.loop_end
    for i in range(issue.size):
        point = min(max(issue[i], 0), outside.size - 1)
        found = outside[point]
        for step in range(outside[point], first[point + 1] - 1):
            if point < due[i] < loop_end[what[step]]:
                found = step + 1
        ranks[2 * i] = 3 * found + 1


@compiled
def due_ranks(tape: Tape, issue: Ints, due: Ints, ranks: Ints) -> None:
    """Put copies where they are due: in the innermost body that they belong to."""
    what, first, outside = tape.what, tape.first, tape.outside
    loop_start = tape.loop_start
    for i in range(issue.size):
        point = min(max(due[i], 0), outside.size - 1)
        found = outside[point]
        for step in range(outside[point] - 1, first[point] - 1, -1):
            if loop_start[what[step]] < issue[i] < point:
                found = step
        at_once = ranks[2 * i] == 3 * found + 1
        ranks[2 * i + 1] = 3 * found + 2 * at_once


@compiled
def sort_ranks(ranks: Ints, steps: int) -> tuple[Ints, Ints]:
    """The first event of each step, and the events in order; see ``Events``."""
    place = np.zeros(3 * steps + 1, np.int64)
    for rank in ranks:
        place[rank + 1] += 1
    for rank in range(3 * steps):
        place[rank + 1] += place[rank]
    first = np.empty(steps + 1, np.int64)
    for step in range(steps + 1):
        first[step] = place[3 * step]
    event = np.empty(ranks.size, np.int64)
    for k in range(ranks.size):
        event[place[ranks[k]]] = k // 2 if k % 2 == 0 else ~(k // 2)
        place[ranks[k]] += 1
    return first, event


def moved_bytes(tape: Tape, events: Events, map_arrays: MapArrays) -> int:
    """The bytes of all copies of a map, each as often as one run issues it."""
    runs = np.repeat(tape.runs, np.diff(events.first))
    issued = events.event >= 0
    copy_bytes = map_arrays.copy_bytes[events.event[issued]]
    return sum(
        int(count) * int(size)  # which may exceed any array's integers
        for count, size in zip(runs[issued], copy_bytes, strict=True)
    )
