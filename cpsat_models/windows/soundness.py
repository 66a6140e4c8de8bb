"""Whether a map with a new window keeps to the rules that reach beyond the window.

The answer of a window's problem is valid there. What that leaves open is settled here:
limits that other copies share, and what later evictions and loops expect.
"""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.cpsat_models.windows.building import WindowProblem
from hybridalloc.cpsat_models.windows.surroundings import Crossing, Surroundings
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Program

Span = tuple[int, int]


def is_sound(problem: Problem, small: WindowProblem, spliced: Surroundings) -> bool:
    """Whether a map is valid, given that its window is.

    Args:
        problem: The whole.
        small: The window's problem.
        spliced: The surroundings of the whole map with an answer of it.
    """
    return keeps_limits(problem, small, spliced.map) and all(
        _writes_before_evictions(problem.program, spliced.of(x.buffer))
        and _evicts_before_fetches(spliced.of(x.buffer))
        and _fits_loops(problem.program, small, x, spliced)
        for x in small.crossings
    )


def keeps_limits(problem: Problem, small: WindowProblem, memory_map: MemoryMap) -> bool:
    """Whether at no point of a window too many copies are outstanding."""
    low, high = small.points[0], small.points[-1]
    near = [x for x in memory_map.allocations if x.start <= high and x.end >= low]
    engine = problem.target.copy_engine
    return (
        _most(_fetches(near), low, high) <= engine.max_outstanding_prefetches
        and _most(_evictions(near), low, high) <= engine.max_outstanding_evictions
    )


def _fetches(stays: list[Allocation]) -> Iterator[Span]:
    for stay in stays:
        if stay.origin is Origin.PREFETCHED:
            for issue in [piece.issue for piece in stay.slices] or [stay.start]:
                yield issue, stay.ready


def _evictions(stays: list[Allocation]) -> Iterator[Span]:
    for stay in stays:
        if stay.eviction is not None:
            yield stay.eviction.issue, stay.eviction.due


def _most(spans: Iterator[Span], low: int, high: int) -> int:
    """The most that are outstanding; issued and due at one point counts there."""
    change = [0] * (high - low + 2)
    for issue, due in spans:
        begin, end = max(issue, low), min(max(due, issue + 1), high + 1)
        if begin < end:
            change[begin - low] += 1
            change[end - low] -= 1
    now = most = 0
    for step in change:
        now += step
        most = max(most, now)
    return most


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
    at_once = {issue for issue, due in _evictions(stays) if issue == due}
    return all(issue not in at_once for issue, _ in _fetches(stays))


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
