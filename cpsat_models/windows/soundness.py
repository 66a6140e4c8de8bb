"""Whether a map with a new window keeps to the rules that reach beyond the window.

The answer of a window's problem is valid there. What that leaves open is settled here:
limits that other copies share, and what later evictions and loops expect.
"""

from __future__ import annotations

from hybridalloc.cpsat_models.mapping.limits import keeps_limits
from hybridalloc.cpsat_models.windows.building import WindowProblem
from hybridalloc.cpsat_models.windows.surroundings import Crossing, Surroundings
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Program


def is_sound(problem: Problem, small: WindowProblem, spliced: Surroundings) -> bool:
    """Whether a map is valid, given that its window is.

    Args:
        problem: The whole.
        small: The window's problem.
        spliced: The surroundings of the whole map with an answer of it.
    """
    return _keeps_limits(problem, small, spliced.map) and all(
        _writes_before_evictions(problem.program, spliced.of(x.buffer))
        and _evicts_before_fetches(spliced.of(x.buffer))
        and _fits_loops(problem.program, small, x, spliced)
        for x in small.crossings
    )


def _keeps_limits(
    problem: Problem, small: WindowProblem, memory_map: MemoryMap
) -> bool:
    """Whether at no point of a window too many copies are outstanding.

    Elsewhere as many are as before.
    """
    low, high = small.points[0], small.points[-1]
    near = (x for x in memory_map.allocations if x.start <= high and x.end >= low)
    return keeps_limits(problem, MemoryMap(tuple(near)))


def _writes_before_evictions(program: Program, stays: list[Allocation]) -> bool:
    """Whether what is evicted is not written any more."""
    return not any(
        stay.eviction.issue <= use.instruction < stay.end
        for stay in stays
        if stay.eviction is not None
        for use in program.uses[stay.buffer]
        if use.access.writes
    )


def _evicts_before_fetches(stays: list[Allocation]) -> bool:
    """Whether no prefetch is issued at the point of an eviction that begins there."""
    evictions = (x.eviction for x in stays if x.eviction is not None)
    at_once = {x.issue for x in evictions if x.issue == x.due}
    fetches = (x for x in stays if x.origin is Origin.PREFETCHED)
    return not any(at_once & {x.start, *(y.issue for y in x.slices)} for x in fetches)


def _fits_loops(
    program: Program, small: WindowProblem, crossing: Crossing, spliced: Surroundings
) -> bool:
    """Whether no loop finds the slow copy valid where it was not."""
    buffer, end = crossing.buffer, small.points[-1]
    before = small.surroundings.is_valid(buffer, end)
    if before or not spliced.is_valid(buffer, end):
        return True
    times = [use.instruction for use in program.uses[buffer]]
    return not any(
        loop.start < end or any(loop.start <= t < loop.end for t in times)
        for loop in program.loops
        if loop.end > end
    )
