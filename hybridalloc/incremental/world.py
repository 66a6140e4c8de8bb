"""What is known of a problem before any map is made, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.space import units
from hybridalloc.cost_model import compile_costs
from hybridalloc.incremental import tables
from hybridalloc.incremental.instructions import refresh
from hybridalloc.incremental.tables import Clock, State, World
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.simulator.tape import RUN, Tape, build_tape
from hybridalloc.stays import Stay


@dataclass(frozen=True, slots=True)
class Row:
    """A stay of the table."""

    stay: Stay
    kind: int = tables.USUAL
    untouched: bool = False
    """Whether it stays as the map at the start has it."""


def build_world(problem: Problem, rows: Sequence[Row]) -> World:
    """The tables of a problem.

    Args:
        problem: The program and the target.
        rows: The stays, by start.
    """
    program, engine = problem.program, problem.target.copy_engine
    loops, tape = Loops(program), build_tape(program)
    fast = problem.target.fast
    first_use = [0, *accumulate(map(len, program.uses))]
    loop_index = {(x.start, x.end): i for i, x in enumerate(program.loops)}
    stays = _stays(problem, rows, first_use, loop_index)
    return World(
        stays=stays,
        weights=_weights(problem, loops, rows),
        uses=_uses(program),
        of_buffer=_of_buffer(stays[:, tables.BUFFER], len(program.buffers)),
        accessed=_ints([a.buffer for i in program.instructions for a in i.accesses]),
        points=_points(problem, tape, loop_index, loops, stays[:, tables.START]),
        loops=_loops(program, loops, loop_index, tape),
        trip_counts=tape.trips,
        steps=_steps(tape),
        reserved=_reserved(fast.reserved, fast.alignment),
        limits=_ints(
            [
                problem.target.capacity // fast.alignment,
                engine.max_outstanding_prefetches,
                engine.max_outstanding_evictions,
                problem.target.cross_program_prefetches,
                engine.max_slices,
                any(x.scratch_bytes for x in program.instructions),
            ]
        ),
        crossings=np.flatnonzero(stays[:, tables.KIND] == tables.CROSS),
    )


def build_clock(problem: Problem, copies: int, weight: float, limit: float) -> Clock:
    """The times of a problem with everything in slow memory and no copies yet.

    Args:
        problem: Its cost model counts.
        copies: How many copies there may be.
        weight: What a second counts in the objective.
        limit: Seconds that may not be exceeded.
    """
    costs = compile_costs(problem)
    steps = len(build_tape(problem.program).action)
    none = np.zeros(costs.runs.size)
    coefficients = (costs.compute_s, costs.empty_s, costs.extra_s, costs.floor_s)
    lines = (costs.line_s, costs.slope_s, costs.all_slow_s, costs.runs, none)
    terms = np.stack((*coefficients, *lines), axis=1)
    access = np.stack((costs.slow_s, costs.fast_s, costs.access_bytes), axis=1)
    clock = Clock(
        access_s=np.ascontiguousarray(access.reshape(-1, 3)),
        terms=np.ascontiguousarray(terms),
        first_seen=costs.first_seen,
        seen_s=costs.seen_s,
        first_seen_access=costs.first_seen_access,
        seen_access=costs.seen_access,
        times=np.zeros((costs.runs.size, 2)),
        marks=np.zeros((steps + 1, 7)),
        trial=np.zeros((steps + 1, 7)),
        spots=np.zeros((copies, 2)),
        stamps=np.full(copies, -1, dtype=np.int64),
        sums=np.zeros(7),
    )
    clock.sums[tables.WEIGHT], clock.sums[tables.LIMIT] = weight, limit
    return clock


def start_clock(world: World, state: State, clock: Clock, where: Ints) -> None:
    """Let a clock tell the time with no map, and the least time of instructions.

    Args:
        world: What does not change.
        state: Without any allocations.
        clock: The cost model.
        where: Its directory.
    """
    for is_fast in (True, False):
        state.fast[:] = is_fast
        for t in range(len(clock.times)):
            begin, end = world.points[t : t + 2, tables.FIRST_ACCESS].tolist()
            refresh(where, state.fast, begin, end, t)
        if is_fast:
            clock.terms[:, tables.LEAST] = clock.times[:, tables.ELAPSED]


def empty_state(world: World, slots: int, buffers: int) -> State:
    """No map yet, and room for so many allocations.

    Args:
        world: What does not change.
        slots: How many allocations there may be, with those that a move takes out.
        buffers: Of the program.
    """

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    counts = ints(tables.COUNT_COLUMNS)
    counts[tables.N_SPARE] = slots
    instructions = len(world.points) - 2
    return State(
        slots=ints(slots, tables.SLOT_COLUMNS),
        values=np.zeros(slots),
        active=ints(slots),
        spans=ints(slots, 2),
        spare=np.arange(slots)[::-1].copy(),
        heads=ints(buffers) - 1,
        fast=ints(len(world.accessed)),
        load=ints(instructions),
        outstanding=ints(instructions + 1, 2),
        claims=np.zeros(instructions),
        queued=ints(len(world.steps), 2) - 1,
        copies=ints(tables.PER_SLOT * slots, tables.COPY_COLUMNS),
        works=np.zeros(tables.PER_SLOT * slots),
        log=ints(4 * slots, 2),
        counts=counts,
        blocked=ints(16 * (slots + len(world.reserved)), 3),
        draft=ints(tables.SLOT_COLUMNS),
    )


def _stays(
    problem: Problem,
    rows: Sequence[Row],
    first_use: Sequence[int],
    loop_index: dict[tuple[int, int], int],
) -> Ints:
    buffers, alignment = problem.program.buffers, problem.target.fast.alignment
    table = []
    for row in rows:
        stay, buffer = row.stay, buffers[row.stay.buffer]
        first = first_use[stay.buffer]
        body = stay.body
        table.append(
            (
                stay.buffer,
                first + stay.first,
                first + stay.last,
                stay.start,
                stay.end,
                stay.earliest,
                stay.produced,
                stay.issue,
                stay.deadline,
                -1 if body is None else loop_index[body.start, body.end],
                row.kind,
                units(buffer.size, alignment),
                -1 if buffer.offset is None else buffer.offset // alignment,
                row.untouched,
            )
        )
    return _ints(table).reshape(-1, tables.STAY_COLUMNS)


def _weights(problem: Problem, loops: Loops, rows: Sequence[Row]) -> Floats:
    slow, engine = problem.target.slow, problem.target.copy_engine
    size = np.array([problem.program.buffers[x.stay.buffer].size for x in rows], float)
    weights = np.zeros((len(rows), 6))
    weights[:, tables.IN_S] = size / slow.read_bandwidth
    weights[:, tables.OUT_S] = size / slow.write_bandwidth
    weights[:, tables.STARTUP_S] = engine.startup_s
    weights[:, tables.TRIPS] = [max(1.0, loops.trips(x.stay.body)) for x in rows]
    share = problem.target.fast.alignment / np.maximum(size, 1.0)
    weights[:, tables.UNIT_SHARE] = share
    return weights


def _uses(program: Program) -> Ints:
    """The instruction and the access of each use, by buffer."""
    uses: list[list[tuple[int, int]]] = [[] for _ in program.buffers]
    access = 0
    for t, instruction in enumerate(program.instructions):
        for one in instruction.accesses:
            uses[one.buffer].append((t, access))
            access += 1
    return _ints([use for group in uses for use in group]).reshape(-1, 2)


def _of_buffer(buffers: Ints, count: int) -> Ints:
    """Where the stays of each buffer begin in this array, and then those."""
    order = np.argsort(buffers, kind="stable")
    firsts = np.searchsorted(buffers[order], np.arange(count + 1))
    return np.concatenate((firsts + count + 1, order)).astype(np.int64)


def _points(
    problem: Problem,
    tape: Tape,
    loop_index: dict[tuple[int, int], int],
    loops: Loops,
    starts: Ints,
) -> Ints:
    program = problem.program
    last, alignment = len(program), problem.target.fast.alignment
    points = np.zeros((last + 2, 7), dtype=np.int64)
    counts = [len(instruction.accesses) for instruction in program.instructions]
    points[: last + 1, tables.FIRST_ACCESS] = [0, *accumulate(counts)]
    steps = np.flatnonzero(tape.action == RUN)
    points[tape.what[steps], tables.RUN_STEP] = steps
    points[:, tables.FIRST_STEP] = tape.first
    points[:-1, tables.OUTSIDE] = tape.outside
    points[:, tables.INNER] = -1
    for t in range(last):
        for loop in loops.around(t)[-1:]:
            points[t, tables.INNER] = loop_index[loop.start, loop.end]
    points[:last, tables.SCRATCH] = [
        units(x.scratch_bytes, alignment) for x in program.instructions
    ]
    points[:, tables.FROM_HERE] = np.searchsorted(starts, np.arange(last + 2))
    return points


def _loops(
    program: Program, loops: Loops, loop_index: dict[tuple[int, int], int], tape: Tape
) -> Ints:
    rows = []
    steps = zip(tape.loop_begin.tolist(), tape.loop_again.tolist(), strict=True)
    for loop, (begin, again) in zip(program.loops, steps, strict=True):
        around = loops.around_body(loop)
        outer = around[-2] if len(around) > 1 else None
        parent = -1 if outer is None else loop_index[outer.start, outer.end]
        rows.append((loop.start, loop.end, parent, begin, again))
    return _ints(rows).reshape(-1, 5)


def _steps(tape: Tape) -> Ints:
    """The action of each step, what of, and the step outside loops it is within."""
    top = np.arange(len(tape.action))
    for begin, again in zip(tape.loop_begin, tape.loop_again, strict=True):
        top[begin : again + 1] = np.minimum(top[begin : again + 1], begin)
    return np.ascontiguousarray(np.stack((tape.action, tape.what, top), axis=1))


def _reserved(ranges: Sequence[tuple[int, int]], alignment: int) -> Ints:
    """The ranges in units: those that they touch."""
    rows = [(low // alignment, units(high, alignment)) for low, high in ranges]
    return _ints(rows).reshape(-1, 2)


def _ints(values: object) -> Ints:
    return np.array(values, dtype=np.int64)
