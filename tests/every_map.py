"""The best of all valid maps of a problem of a few instructions, found plainly.

Every combination of start, ready, end and eviction is tried, for at most so many
allocations of a buffer, in every order and at every offset. The checker alone says what
is valid, and the simulator alone what it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

from hybridalloc.checker import Rule, check
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Memory
from hybridalloc.simulator import Simulator
from hybridalloc.target import CopyEngine, MemorySpace

ROOM = 10**6
OF_ONE = {Rule.RANGE, Rule.EVICTION, Rule.LOOP_COPY}
"""Rules about one allocation, whatever others there are."""
OF_PLACES = {
    *(Rule.BUFFER, Rule.OFFSET, Rule.RESERVED, Rule.OVERLAP),
    *(Rule.LOOP_STATE, Rule.CROSS_PROGRAM),
}
"""Rules that other offsets may satisfy."""


def least_time(problem: Problem, most: int) -> float:
    """The least simulated time of a valid map, in seconds; infinite if there is none.

    Args:
        problem: With few buffers and instructions, or this takes for ever.
        most: The most allocations of a buffer.
    """
    sets = [own_sets(problem, b, most) for b in range(len(problem.program.buffers))]
    simulator = Simulator(problem)
    timed = [
        (simulator.evaluate(simulator.encode(MemoryMap(order))), order)
        for chosen in product(*sets)
        if fits(problem, [x for own in chosen for x in own])
        for order in orders([x for own in chosen for x in own])
    ]
    timed.sort(key=lambda entry: entry[0])
    return next((x for x, order in timed if is_possible(problem, order)), math.inf)


def is_possible(problem: Problem, order: Sequence[Allocation]) -> bool:
    """Whether these allocations are valid at some offsets."""
    for allocated in placed(problem, order, ()):
        violated = {x.rule for x in check(problem, MemoryMap(allocated))}
        if not violated:
            return True
        if not violated <= OF_PLACES:
            return False
    return False


def own_sets(problem: Problem, buffer: int, most: int) -> list[tuple[Allocation, ...]]:
    """The sets of allocations of a buffer that are valid with room for everything.

    Each at offsets at which it is; allocations that may lie apart do.
    """
    roomy = with_room(problem, buffer)
    every = [
        allocation
        for allocation in allocations(problem, buffer)
        if not OF_ONE & {x.rule for x in check(roomy, MemoryMap((allocation,)))}
    ]
    found = []
    for count in range(most + 1):
        for chosen in combinations(every, count):
            for apart in placements(chosen):
                violated = {x.rule for x in check(roomy, MemoryMap(apart))}
                if not violated:
                    found.append(apart)
                if not violated or not violated <= OF_PLACES:
                    break
    return found


def placements(chosen: Sequence[Allocation]) -> Iterator[tuple[Allocation, ...]]:
    """The same allocations at the same or different offsets, the most apart first."""
    places = sorted(
        product(range(len(chosen)), repeat=len(chosen)), key=lambda x: -len(set(x))
    )
    for each in places:
        yield tuple(
            replace(x, offset=1000 * place)
            for x, place in zip(chosen, each, strict=True)
        )


def with_room(problem: Problem, buffer: int) -> Problem:
    """The same problem, where no other buffer and no limit is in a buffer's way."""
    program, target = problem.program, problem.target
    buffers = [
        replace(x, offset=None, memory=x.memory if b == buffer else Memory.ANY)
        for b, x in enumerate(program.buffers)
    ]
    steps = [replace(step, scratch_bytes=0) for step in program.instructions]
    space = MemorySpace("fast", 1.0, 1.0, ROOM)
    return replace(
        problem,
        program=replace(program, buffers=tuple(buffers), instructions=tuple(steps)),
        target=replace(
            target, spaces=(space, target.slow), copy_engine=CopyEngine(ROOM, ROOM)
        ),
    )


def allocations(problem: Problem, buffer: int) -> Iterator[Allocation]:
    """All that can be constructed, at offset 0."""
    last = len(problem.program)
    points = range(last + 1)
    for start, ready, end in product(points, repeat=3):
        for origin in Origin:
            if origin is Origin.CROSS_PROGRAM and not may_cross(problem, buffer):
                continue
            for eviction in (None, *(Eviction(*x) for x in combinations_of(points))):
                try:
                    yield Allocation(buffer, 0, start, end, origin, ready, (), eviction)
                except ValueError:  # which is what tells that it cannot be
                    continue


def combinations_of(points: range) -> Iterator[tuple[int, int]]:
    """Issue and due."""
    return ((issue, due) for issue, due in product(points, repeat=2) if issue <= due)


def may_cross(problem: Problem, buffer: int) -> bool:
    """Whether solvers may choose a buffer for the cross-program prefetch."""
    return problem.program.buffers[buffer].cross_program


def fits(problem: Problem, chosen: Sequence[Allocation]) -> bool:
    """Whether there are as many bytes as are held, at each instruction."""
    sizes = [buffer.size for buffer in problem.program.buffers]
    return all(
        sum(sizes[x.buffer] for x in chosen if x.start <= t < x.end)
        <= problem.target.capacity
        for t in range(len(problem.program))
    )


def orders(chosen: Sequence[Allocation]) -> Iterator[tuple[Allocation, ...]]:
    """Every order of a map's list; one where no copies are issued at one point."""
    issues = [(0, x.start) for x in chosen if x.has_copy]
    issues += [(1, x.eviction.issue) for x in chosen if x.eviction]
    if len(set(issues)) == len(issues):
        yield tuple(chosen)
    else:
        yield from permutations(chosen)


def placed(
    problem: Problem, order: Sequence[Allocation], done: tuple[Allocation, ...]
) -> Iterator[tuple[Allocation, ...]]:
    """These allocations at all offsets at which no two of them overlap."""
    if not order:
        yield done
        return
    first, rest = order[0], order[1:]
    size = problem.program.buffers[first.buffer].size
    fast = problem.target.fast
    for offset in range(0, problem.target.capacity - size + 1, fast.alignment):
        one = replace(first, offset=offset)
        if not any(overlap(problem, one, other) for other in done):
            yield from placed(problem, rest, (*done, one))


def overlap(problem: Problem, one: Allocation, other: Allocation) -> bool:
    """Whether two placed allocations share a byte at some time."""
    if one.end <= other.start or other.end <= one.start:
        return False
    low, high = sorted(
        (x.offset or 0, (x.offset or 0) + problem.program.buffers[x.buffer].size)
        for x in (one, other)
    )
    return high[0] < low[1]
