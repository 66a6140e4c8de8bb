"""What two maps do alike: the same bytes at the same time, the same prefetches."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate

from hybridalloc.cost_model import elapsed
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.understanding.difference import Overlap
from hybridalloc.understanding.serving import uses_served

_CLOSE = 2
"""How many instructions apart two prefetches may start and yet agree."""

_Held = dict[int, Counter[int]]
"""For each buffer, by point, how many more or fewer bytes are held from there on."""


def byte_seconds(problem: Problem, memory_map: MemoryMap) -> float:
    """Bytes held in fast memory, each times the seconds for which it is held.

    Args:
        problem: Seconds are those of one run with everything in slow memory.
        memory_map: The map; slices count from their own issue, and a buffer that is
            there twice at a time counts once.
    """
    empty: Counter[int] = Counter()
    clock, changes = _clock(problem), _changes(problem, memory_map)
    return sum(
        _common(clock, problem.program.buffers[index].size, (own, own))
        for index, own in changes.items()
        if own != empty
    )


def overlap(problem: Problem, a: MemoryMap, b: MemoryMap) -> Overlap:
    """How much of what two maps hold is the same buffer at the same time."""
    clock = _clock(problem)
    one, other = _changes(problem, a), _changes(problem, b)
    common = sum(
        _common(clock, problem.program.buffers[i].size, (one[i], other[i]))
        for i in one.keys() & other.keys()
    )
    of_a, of_b = byte_seconds(problem, a), byte_seconds(problem, b)
    paired, close = _prefetches(problem, a, b)
    return Overlap(
        byte_seconds=common,
        share_of_a=common / of_a if of_a else None,
        share_of_b=common / of_b if of_b else None,
        jaccard=common / (of_a + of_b - common) if of_a or of_b else None,
        prefetches=paired,
        prefetches_close=close,
    )


def _clock(problem: Problem) -> list[float]:
    """(T+1,): seconds of one run before each point, everything in slow memory."""
    seconds = (
        runs * elapsed(problem, t, ())
        for t, runs in enumerate(problem.program.multiplicity)
    )
    return list(accumulate(seconds, initial=0.0))


def _changes(problem: Problem, memory_map: MemoryMap) -> _Held:
    changes: _Held = defaultdict(Counter)
    for allocation in memory_map.allocations:
        size = problem.program.buffers[allocation.buffer].size
        for low, high, start in allocation.parts(size):
            changes[allocation.buffer][start] += high - low
            changes[allocation.buffer][allocation.end] -= high - low
    return dict(changes)


def _common(
    clock: list[float], size: int, changes: tuple[Counter[int], Counter[int]]
) -> float:
    """Bytes that both hold, at most the buffer's size, times seconds."""
    held, total, before = [0, 0], 0.0, 0
    for point in sorted(changes[0].keys() | changes[1].keys()):
        total += min(*held, size) * (clock[point] - clock[before])
        for side in range(2):
            held[side] += changes[side][point]
        before = point
    return total


def _prefetches(problem: Problem, a: MemoryMap, b: MemoryMap) -> tuple[int, int]:
    """How many prefetches are in both, and how many of these start close together."""
    starts = [_starts(problem, x) for x in (a, b)]
    common = starts[0].keys() & starts[1].keys()
    apart = [abs(starts[0][key] - starts[1][key]) for key in common]
    return len(apart), sum(x <= _CLOSE for x in apart)


def _starts(problem: Problem, memory_map: MemoryMap) -> dict[tuple[int, int], int]:
    """The start of each prefetch, by buffer and the first instruction it serves."""
    found = {}
    for allocation in memory_map.allocations:
        served = uses_served(problem.program, allocation)
        if allocation.origin is Origin.PREFETCHED and served:
            found[allocation.buffer, served[0].instruction] = allocation.start
    return found
