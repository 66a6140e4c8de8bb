"""The answer of a window's problem, put in the place of what the window holds now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import merge

from hybridalloc.allocating import queue_key
from hybridalloc.cpsat_models.windows.building import WindowProblem
from hybridalloc.cpsat_models.windows.surroundings import (
    Crossing,
    evicted_after,
    evicted_before,
)
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap


def splice(window_problem: WindowProblem, answer: MemoryMap) -> MemoryMap | None:
    """The whole map with a window's new content.

    Args:
        window_problem: The window's own problem.
        answer: A map of it.

    Returns:
        The map; None if the answer does not hold what the window's ends ask for, or a
        stay would need two evictions.
    """
    new: list[Allocation] = []
    for own, crossing in enumerate(window_problem.crossings):
        stays = [x for x in answer.allocations if x.buffer == own]
        joined = _join(stays, crossing, window_problem.points)
        if joined is None:
            return None
        new += joined
    known = set(new)
    replaced = {x for crossing in window_problem.crossings for x in crossing.stays}
    old = window_problem.surroundings.map.allocations
    kept = (x for x in old if x not in replaced or x in known)
    fresh = sorted(known - replaced, key=queue_key)
    return MemoryMap(tuple(merge(kept, fresh, key=queue_key)))


def _join(
    stays: list[Allocation], crossing: Crossing, points: Sequence[int]
) -> list[Allocation] | None:
    """The stays of one buffer, joined with those beyond the ends of the window."""
    last = len(points)
    enter = [x for x in stays if x.start == x.ready == 0]
    leave = [x for x in stays if x.ready <= last < x.end]
    if crossing.entering is not None and len(enter) != 1:
        return None
    if crossing.leaving is not None and len(leave) != 1:
        return None
    joined = []
    for stay in stays:
        before = crossing.entering if stay in enter else None
        after = crossing.leaving if stay in leave else None
        evictions = _evictions(stay, before, after, points)
        if len(evictions) > 1 or _evicts_too_late(evictions, crossing, points[-1]):
            return None
        one = _joined(stay, crossing.buffer, before, after, points)
        eviction = next(iter(evictions), None)
        if eviction is not None and (one is None or eviction.issue <= one.start):
            return None
        if one is not None:
            joined.append(replace(one, eviction=eviction))
    return joined


def _joined(
    stay: Allocation,
    buffer: int,
    before: Allocation | None,
    after: Allocation | None,
    points: Sequence[int],
) -> Allocation | None:
    """A stay with what it goes on from and what goes on from it; None if it is empty.

    Its eviction is left out.
    """
    start, ready = _point(stay.start, points), _point(stay.ready, points)
    slices = tuple(replace(x, issue=_point(x.issue, points)) for x in stay.slices)
    origin = stay.origin
    if before is not None:
        start, ready, slices = before.start, before.ready, before.slices
        origin = before.origin
    end = _point(stay.end, points) if after is None else after.end
    if start >= end:
        return None
    return Allocation(buffer, stay.offset, start, end, origin, ready, slices)


def _evictions(
    stay: Allocation,
    before: Allocation | None,
    after: Allocation | None,
    points: Sequence[int],
) -> list[Eviction]:
    """The evictions of a joined stay: before the window, in it, and after it."""
    found = []
    if before and before.eviction and evicted_before(before, points[0]):
        found.append(before.eviction)
    if stay.eviction is not None:
        issue, due = stay.eviction.issue, stay.eviction.due
        found.append(Eviction(_point(issue, points), _point(due, points)))
    if after and after.eviction and evicted_after(after, points[-1]):
        found.append(after.eviction)
    return found


def _evicts_too_late(evictions: list[Eviction], crossing: Crossing, end: int) -> bool:
    """Whether a new one is issued at the window's end, where later copies may be."""
    known = [stay.eviction for stay in crossing.stays]
    return any(x.issue >= end and x not in known for x in evictions)


def _point(own: int, points: Sequence[int]) -> int:
    """The point of the whole program for one of the window's problem."""
    return points[min(max(own - 1, 0), len(points) - 1)]
