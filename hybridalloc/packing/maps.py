"""Memory maps as blocks, and their allocations at new offsets."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from hybridalloc.memory_map import Allocation, MemoryMap, Origin, Rectangle
from hybridalloc.packing.block import Block
from hybridalloc.packing.repack import repack
from hybridalloc.problem import Problem
from hybridalloc.program import Loop


@dataclass(frozen=True, slots=True)
class Group:
    """Allocations that share one offset."""

    block: Block
    members: tuple[int, ...]
    """Indices into the map's allocations."""


def blocks_of(problem: Problem, memory_map: MemoryMap) -> tuple[Group, ...]:
    """The blocks that a map's allocations form, whether they have offsets or not.

    One block are, if they are of one buffer and have the same offset or none yet: the
    parts of a cross-program prefetch; and those that touch the first or the last point
    of one loop, for whatever is live across its back edge must have there the place
    that it has at the loop's entry (docs/model.md, ``loop_state``). What overlaps in
    time is never one block.

    Args:
        problem: What the map is for.
        memory_map: Its allocations, with offsets or without.

    Returns:
        Groups of allocations, ordered by their first; each allocation is in one.
    """
    allocations = memory_map.allocations
    of_buffer: dict[tuple[int, int | None], list[int]] = defaultdict(list)
    for index, allocation in enumerate(allocations):
        of_buffer[allocation.buffer, allocation.offset].append(index)
    groups: list[list[int]] = []
    for same in of_buffer.values():
        groups += _groups(same, allocations, problem.program.loops)
    made = []
    for members in sorted(map(sorted, groups)):
        buffer = problem.program.buffers[allocations[members[0]].buffer]
        parts = (_rectangles(allocations[i], buffer.size) for i in members)
        block = Block(tuple(chain.from_iterable(parts)), buffer.offset)
        made.append(Group(block, tuple(members)))
    return tuple(made)


def _groups(
    same: Sequence[int], allocations: Sequence[Allocation], loops: Sequence[Loop]
) -> list[list[int]]:
    """Allocations of one buffer at one offset, or at none, by what stays together."""
    groups = {index: [index] for index in same}
    if len(same) == 1:
        return list(groups.values())
    for bound in _bound(same, allocations, loops):
        for one in bound[1:]:
            first, other = groups[bound[0]], groups[one]
            if first is not other and not _overlap(first, other, allocations):
                first += other
                groups.update(dict.fromkeys(other, first))
    return list({id(group): group for group in groups.values()}.values())


def _bound(
    same: Sequence[int], allocations: Sequence[Allocation], loops: Sequence[Loop]
) -> Iterator[list[int]]:
    """Those that must stay together, reason by reason; never none."""
    cross = [i for i in same if allocations[i].origin is Origin.CROSS_PROGRAM]
    touching = [
        [
            i
            for i in same
            if allocations[i].start <= loop.start < allocations[i].end
            or allocations[i].start < loop.end <= allocations[i].end
        ]
        for loop in loops
    ]
    return (bound for bound in (cross, *touching) if bound)


def _overlap(
    some: Sequence[int], others: Sequence[int], allocations: Sequence[Allocation]
) -> bool:
    """Whether any two of them are there at one time."""
    return any(
        allocations[i].start < allocations[j].end
        and allocations[j].start < allocations[i].end
        for i in some
        for j in others
    )


def _rectangles(allocation: Allocation, size: int) -> Iterator[Rectangle]:
    """What it occupies, in bytes from its offset."""
    for rectangle in replace(allocation, offset=0).rectangles(size):
        _, _, start, end = rectangle
        if start < end:
            yield rectangle


def repack_map(
    problem: Problem,
    memory_map: MemoryMap,
    *,
    goal: int = 0,
    seed: int = 0,
    deadline: float = math.inf,
    iterations: int | None = 200,
) -> MemoryMap | None:
    """The map with new offsets, whose peak is no higher; times stay as they are.

    Args:
        problem: What the map is for.
        memory_map: Valid, or with offsets missing; what is missing is found, and what
            is given may change unless the buffer fixes it.
        goal: A peak in bytes that is good enough; the capacity if any map is.
        seed: Of the search, which moves blocks at random.
        deadline: In seconds of ``time.monotonic()``.
        iterations: The most packings that are tried; ``None``: no limit.

    Returns:
        A map, or ``None`` if no packing was found that holds every allocation.
    """
    groups = blocks_of(problem, memory_map)
    allocations = list(memory_map.allocations)
    offsets = repack(
        [group.block for group in groups],
        problem.target.fast,
        scratch=[x.scratch_bytes for x in problem.program.instructions],
        start=[allocations[group.members[0]].offset for group in groups],
        goal=goal,
        rng=np.random.default_rng(seed),
        deadline=deadline,
        iterations=iterations,
    )
    for group, offset in zip(groups, offsets, strict=True):
        if offset is None:
            return None
        for i in group.members:
            allocations[i] = replace(allocations[i], offset=offset)
    return MemoryMap(tuple(allocations))
