"""A window of a program as a small problem of its own.

Before the window's instructions comes one that stands for all that ran before them,
and after them one for all that runs later: they access what is held at the window's
ends, and take very long unless it is held there. What may not change takes its place as
buffers that are pinned to fast memory. Instructions in a row that access nothing that
may change are one *step*.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hybridalloc.cost_model import traffic_s
from hybridalloc.cpsat_models.windows.clock import Clock
from hybridalloc.cpsat_models.windows.fixtures import Fixtures
from hybridalloc.cpsat_models.windows.surroundings import (
    Crossing,
    Surroundings,
    Window,
    evicted_after,
    evicted_before,
)
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import (
    Access,
    Buffer,
    Instruction,
    Loop,
    Observation,
    Program,
)
from hybridalloc.target import Target


@dataclass(frozen=True)
class WindowProblem:
    """A window's own problem, and how it goes with the whole."""

    problem: Problem
    points: tuple[int, ...]
    """(steps + 1,): where each step begins, and the end; step ``i`` is instruction
    ``i + 1`` of the problem."""
    surroundings: Surroundings
    crossings: tuple[Crossing, ...]
    """Of the buffers that the window may change: number ``i`` is its buffer ``i``."""
    present: MemoryMap
    """What the whole map comes to in it."""


def build(
    problem: Problem,
    surroundings: Surroundings,
    window: Window,
    crossings: Sequence[Crossing],
    clock: Clock,
) -> WindowProblem:
    """The problem of a window.

    Args:
        problem: The whole.
        surroundings: Those of a valid map.
        window: It contains loops as a whole, or lies strictly within them.
        crossings: Of the buffers that may change, each free.
        clock: Which has measured the map.
    """
    points = _points(problem.program, window, crossings)
    own = {x.buffer: i for i, x in enumerate(crossings)}
    claims = clock.claims(surroundings, window, own)
    fixtures = Fixtures(problem, surroundings, points, own, claims)
    small = _problem(problem, points, crossings, fixtures)
    changing = (
        _restrict(x, own[x.buffer], crossings[own[x.buffer]], points)
        for x in surroundings.map.allocations
        if x.buffer in own and window.overlaps(x)
    )
    present = MemoryMap((*changing, *fixtures.allocations))
    return WindowProblem(small, points, surroundings, tuple(crossings), present)


def _points(
    program: Program, window: Window, crossings: Sequence[Crossing]
) -> tuple[int, ...]:
    """Where steps begin, and the window's end."""
    points = {window.low, window.high}
    for loop in program.loops:
        points |= {loop.start, loop.end}
    for crossing in crossings:
        uses = program.uses[crossing.buffer]
        first = bisect_left(uses, window.low, key=lambda use: use.instruction)
        last = bisect_left(uses, window.high, key=lambda use: use.instruction)
        for use in uses[first:last]:
            points |= {use.instruction, use.instruction + 1}
        for stay in crossing.stays:
            points |= {stay.start, stay.ready, stay.end}
            points |= {piece.issue for piece in stay.slices}
            if stay.eviction is not None:
                points |= {stay.eviction.issue, stay.eviction.due}
    return tuple(sorted(x for x in points if window.low <= x <= window.high))


def _buffer(buffer: Buffer, crossing: Crossing) -> Buffer:
    offset = buffer.offset if crossing.offset is None else crossing.offset
    return replace(
        buffer,
        is_input=crossing.valid_before,
        is_output=crossing.needed_after,
        cross_program=False,
        offset=offset,
    )


def _restrict(
    stay: Allocation, own: int, crossing: Crossing, points: Sequence[int]
) -> Allocation:
    """A stay as the window sees it."""

    def moved(point: int) -> int:
        return bisect_left(points, point) + 1

    slices: tuple[Slice, ...] = ()
    if stay is crossing.entering:
        start = ready = 0
        origin = Origin.PREFETCHED if crossing.valid_before else Origin.PRODUCED
    else:
        start, ready, origin = moved(stay.start), moved(stay.ready), stay.origin
        slices = tuple(replace(x, issue=moved(x.issue)) for x in stay.slices)
    end = len(points) + 1 if stay is crossing.leaving else moved(stay.end)
    eviction = None
    if stay.eviction is not None and not (
        evicted_before(stay, points[0]) or evicted_after(stay, points[-1])
    ):
        eviction = Eviction(moved(stay.eviction.issue), moved(stay.eviction.due))
    return Allocation(own, stay.offset, start, end, origin, ready, slices, eviction)


def _problem(
    problem: Problem,
    points: Sequence[int],
    crossings: Sequence[Crossing],
    fixtures: Fixtures,
) -> Problem:
    """The problem of these parts; the fixtures get their buffers."""
    program = problem.program
    buffers = [_buffer(program.buffers[x.buffer], x) for x in crossings]
    steps = [fixtures.step(i) for i in range(len(points) - 1)]
    inner = range(points[0], points[-1])
    cycles = _longest_s(problem, inner, crossings) * problem.target.clock_hz
    first = _end(_entries(crossings), "before", cycles)
    last = _end(_exits(crossings), "after", cycles)
    steps = [first, *steps, last]
    loops = (
        Loop(points.index(x.start) + 1, points.index(x.end) + 1, x.trip_count)
        for x in program.loops
        if points[0] <= x.start and x.end <= points[-1]
    )
    every = (*buffers, *fixtures.buffers)
    own = Program(program.name, tuple(steps), every, tuple(loops))
    observed = any(step.observations for step in steps)
    model = CostModel.CYCLES if observed else CostModel.ROOFLINE
    return Problem(own, _target(problem.target, crossings), model)


def _entries(crossings: Sequence[Crossing]) -> Iterator[Access]:
    """A read of what is held at the begin; a write where the slow copy is stale."""
    for own, crossing in enumerate(crossings):
        if crossing.entering is not None and crossing.valid_before:
            yield Access(own, read_bytes=1)
        elif crossing.entering is not None:
            yield Access(own, 0, 1, whole=True)


def _exits(crossings: Sequence[Crossing]) -> Iterator[Access]:
    """A read of what is held at the end."""
    for own, crossing in enumerate(crossings):
        if crossing.leaving is not None:
            yield Access(own, read_bytes=1)


def _end(accesses: Iterator[Access], name: str, cycles: float) -> Instruction:
    """An instruction that takes no time if all its buffers are in fast memory.

    Args:
        accesses: One byte each.
        name: Its name.
        cycles: What it takes longer for each that is not.
    """
    every = tuple(accesses)
    if not every:
        return Instruction(name)
    fast = tuple(access.buffer for access in every)
    slow = Observation((), cycles * len(every))
    return Instruction(name, 0.0, every, 0, (slow, Observation(fast, 0.0)))


def _longest_s(problem: Problem, window: range, crossings: Sequence[Crossing]) -> float:
    """Seconds that the window takes at most under the present map."""
    target = problem.target
    seconds = 0.0
    for t in window:
        step = problem.program.instructions[t]
        seen = (x.cycles / target.clock_hz for x in problem.observations[t])
        moved = sum(traffic_s(target.slow, access) for access in step.accesses)
        seconds += max(step.compute_s, moved, *seen, 0.0)
    startup_s = target.copy_engine.startup_s
    for crossing in crossings:
        size = problem.program.buffers[crossing.buffer].size
        copied_s = traffic_s(target.slow, Access(0, size, size))
        slices = sum(1 + len(stay.slices) for stay in crossing.stays)
        seconds += len(crossing.stays) * (copied_s + startup_s) + slices * startup_s
    return seconds


def _target(target: Target, crossings: Sequence[Crossing]) -> Target:
    """The target; what is held at the begin is fetched there, beyond the limits."""
    held = sum(x.entering is not None and x.valid_before for x in crossings)
    engine = target.copy_engine
    engine = replace(
        engine, max_outstanding_prefetches=engine.max_outstanding_prefetches + held
    )
    return replace(target, copy_engine=engine, cross_program_prefetches=0)
