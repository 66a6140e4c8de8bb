"""Expressible maps: those that XLA can be told to carry out (docs/deploying.md).

XLA's options say which buffers are in fast memory, in which order places are found for
them by best fit, and after which instruction each is fetched. So each buffer has one
stay, with all its accesses, that is produced, prefetched whole, or held during the
whole run as the cross-program prefetch; and none is evicted.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from hybridalloc.allocating import (
    allocate,
    allocate_cross_program,
    in_queue_order,
    queue_key,
)
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.packing.block import Block
from hybridalloc.packing.ordering import Ordering, best_fit_order
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.stays import candidate_stays, cross_program_stays, issue_points

SEED = 0
"""Of the search for an order; a map has the same one always."""


def project(problem: Problem, memory_map: MemoryMap) -> MemoryMap:
    """The expressible map nearest to a map.

    A buffer whose first access the map serves from fast memory stays there with all its
    accesses, if that is expressible; what then has too many copies outstanding beside
    it, or no place, is left out. Prefetches are issued right after instructions that
    access memory, no later than in the map, and not right before their use. An
    expressible map stays as it is, but for its offsets, and for issue points after
    instructions that do nothing.

    Args:
        problem: What the map is for; expressible.
        memory_map: A valid map.
    """
    wanted = _within_limit(problem, _wanted(problem, memory_map))
    ordering = placing_order(problem, wanted)
    return MemoryMap(
        in_queue_order(
            replace(allocation, offset=offset)
            for allocation, offset in zip(wanted, ordering.offsets, strict=True)
            if offset is not None
        )
    )


def placing_order(problem: Problem, allocations: Sequence[Allocation]) -> Ordering:
    """In which order best fit finds places for allocations, and which.

    The same allocations, in whatever order, have the same one.
    """
    index = sorted(range(len(allocations)), key=lambda i: queue_key(allocations[i]))
    found = best_fit_order(
        [_block(problem.program, allocations[i]) for i in index],
        problem.target.fast,
        scratch=[x.scratch_bytes for x in problem.program.instructions],
        rng=np.random.default_rng(SEED),
    )
    offsets = dict(zip(index, found.offsets, strict=True))
    return Ordering(
        tuple(index[i] for i in found.order),
        tuple(offsets[i] for i in range(len(allocations))),
    )


def deviations(problem: Problem, memory_map: MemoryMap) -> tuple[Allocation, ...]:
    """The allocations of a map that XLA cannot be told to carry out as they are.

    Whatever their offsets: those are XLA's to choose.
    """
    kept = {_key(x) for x in project(problem, memory_map).allocations}
    return tuple(x for x in memory_map.allocations if _key(x) not in kept)


def _block(program: Program, x: Allocation) -> Block:
    buffer = program.buffers[x.buffer]
    return Block(((0, buffer.size, x.start, x.end),), buffer.offset)


def _key(x: Allocation) -> tuple[int, int, int, int]:
    return x.buffer, x.start, x.ready, x.end


def _wanted(problem: Problem, memory_map: MemoryMap) -> Iterator[Allocation]:
    """The whole stays of the buffers whose first access a map serves, without place."""
    loops, points = Loops(problem.program), issue_points(problem.program)
    stays = {stay.buffer: stay for stay in candidate_stays(problem, loops)}
    held = {stay.buffer: stay for stay in cross_program_stays(problem, loops)}
    for x in sorted(memory_map.allocations, key=queue_key):
        if x.origin is Origin.CROSS_PROGRAM:
            if x.start == 0 and (stay := held.pop(x.buffer, None)):
                span = (0, stay.end)
                yield from allocate_cross_program(stay, None, [span])
        elif (stay := stays.get(x.buffer)) and x.ready <= stay.start < x.end:
            if stay.produced:
                yield allocate(stay, None, (stay.start, stay.end))
            elif (start := _issue(points, x.start, stay.start)) is not None:
                yield allocate(stay, None, (start, stay.end))


def _issue(points: Sequence[int], start: int, ready: int) -> int | None:
    """The last issue point up to ``start`` that has work between it and ``ready``.

    XLA refuses others where the first use alone does not repay the copy; ``None`` if
    there is none, not even before ``start``.
    """
    last = bisect(points, ready) - 2
    if last < 0:
        return None
    return points[max(0, min(bisect(points, start) - 1, last))]


def _within_limit(
    problem: Problem, allocations: Iterable[Allocation]
) -> list[Allocation]:
    """Those of which no more prefetches are outstanding at a time than may be."""
    most = problem.target.copy_engine.max_outstanding_prefetches
    outstanding: list[int] = []  # when each is complete
    kept = []
    for x in sorted(allocations, key=queue_key):
        if x.origin is Origin.PREFETCHED:
            while outstanding and outstanding[0] <= x.start:
                heappop(outstanding)
            if len(outstanding) >= most:
                continue
            heappush(outstanding, max(x.ready, x.start + 1))
        kept.append(x)
    return kept
