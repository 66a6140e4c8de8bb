"""Recognition: the stays that the allocations of a map are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.program import Loop, Program
from hybridalloc.stays import Lifetime, Stay


@dataclass(frozen=True, slots=True)
class Found:
    """Allocations of a map, and the stay that they are."""

    stay: Stay
    allocations: tuple[Allocation, ...]
    is_usual: bool
    """Whether ``Lifetime`` knows the stay, too."""


def recognise(program: Program, loops: Loops, memory_map: MemoryMap) -> Iterator[Found]:
    """The stays that the allocations of a valid map are, but for those of no use."""
    for group in _by_buffer(memory_map):
        yield from _stays(program, loops, group)


def _by_buffer(memory_map: MemoryMap) -> Iterator[list[Allocation]]:
    """The allocations of each buffer, those ready first before others."""
    in_order = sorted(memory_map.allocations, key=lambda x: (x.buffer, x.ready))
    for _, group in groupby(in_order, key=lambda x: x.buffer):
        yield list(group)


def _stays(
    program: Program, loops: Loops, allocations: Iterable[Allocation]
) -> Iterator[Found]:
    """The stays of one buffer's allocations; what is ready longer serves first."""
    heads = [x for x in allocations if not _is_tail(x)]
    tails = tuple(x for x in allocations if _is_tail(x))
    lifetime = Lifetime(program, loops, heads[0].buffer)
    points = np.array([x.instruction for x in program.uses[heads[0].buffer]])
    served = 0
    for x in heads:
        first = max(served, int(np.searchsorted(points, x.ready)))
        last = int(np.searchsorted(points, x.end)) - 1
        if first > last:
            continue
        served = last + 1
        is_cross_program = x.origin is Origin.CROSS_PROGRAM
        group = (x, *tails) if is_cross_program else (x,)
        if stay := _usual_stay(lifetime, x, first, last):
            yield Found(stay, group, is_usual=True)
        else:
            instructions = tuple(points[first : last + 1].tolist())
            stay = _unusual_stay(loops, x, first, instructions)
            yield Found(stay, group, is_usual=False)


def _is_tail(x: Allocation) -> bool:
    """Whether it is the part of a cross-program prefetch that serves the next run."""
    return x.origin is Origin.CROSS_PROGRAM and x.start > 0


def _usual_stay(
    lifetime: Lifetime, x: Allocation, first: int, last: int
) -> Stay | None:
    """The stay of these accesses that this allocation is, if there is one."""
    for stay in reversed(list(lifetime.stays_of(first, last))):
        if x.origin is Origin.CROSS_PROGRAM:
            stay = replace(stay, start=0)
        if (stay.first, stay.last) == (first, last) and _keeps_to(x, stay):
            return stay
    return None


def _keeps_to(x: Allocation, stay: Stay) -> bool:
    """Whether an allocation is within the limits of a stay."""
    body, eviction = stay.body, x.eviction
    if stay.produced != (x.origin is Origin.PRODUCED):
        return False
    if body and not (body.start <= x.start and x.end <= body.end):
        return False
    if not (stay.earliest <= x.start and x.ready <= stay.start and stay.end <= x.end):
        return False
    if not stay.evicts:
        return True
    return eviction is not None and (
        stay.issue <= eviction.issue and eviction.due <= stay.deadline
    )


def _unusual_stay(
    loops: Loops, x: Allocation, first: int, instructions: tuple[int, ...]
) -> Stay:
    """A stay that is just this allocation."""
    return Stay(
        buffer=x.buffer,
        first=first,
        last=first + len(instructions) - 1,
        start=x.ready,
        end=x.end,
        body=_body(loops, x),
        instructions=instructions,
        earliest=x.start,
        produced=x.origin is Origin.PRODUCED,
        issue=x.eviction.issue if x.eviction else -1,
        deadline=x.eviction.due if x.eviction else -1,
    )


def _body(loops: Loops, x: Allocation) -> Loop | None:
    """The innermost loop that an allocation lies in, without spanning it."""
    for loop in reversed(loops.around_both(x.start, x.end - 1)):
        if (loop.start, loop.end) != (x.start, x.end):
            return loop
    return None
