"""What two maps do alike: the same bytes at the same time, the same prefetches."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.understanding.difference import Overlap
from hybridalloc.understanding.serving import Serving, uses_served

_CLOSE = 2
"""How many instructions apart two prefetches may start and yet agree."""


class Held:
    """What a map holds in fast memory, buffer by buffer."""

    def __init__(
        self, problem: Problem, memory_map: MemoryMap, clock: Sequence[float]
    ) -> None:
        """Follow each buffer.

        Args:
            problem: What the map is for.
            memory_map: The map; slices count from their own issue, and a buffer that
                is there twice at a time counts once.
            clock: As ``slow_clock`` has it.
        """
        self.problem = problem
        self.memory_map = memory_map
        self._clock = clock
        self._changes: dict[int, Counter[int]] = defaultdict(Counter)
        """By buffer and point, how many more or fewer bytes are held from there on."""
        for x in memory_map.allocations:
            change = self._changes[x.buffer]
            for low, high, start, end in x.rectangles(self._size(x.buffer)):
                change[start] += high - low
                change[end] -= high - low

    @cached_property
    def byte_seconds(self) -> float:
        """Bytes, each times the seconds for which it is held."""
        return self.in_common(self)

    def in_common(self, other: Held) -> float:
        """Bytes of the same buffers, each times the seconds for which both hold it."""
        return math.fsum(
            self._common(index, self._changes[index], other._changes[index])
            for index in self._changes.keys() & other._changes.keys()
        )

    def _size(self, index: int) -> int:
        return self.problem.program.buffers[index].size

    def _common(self, index: int, one: Counter[int], other: Counter[int]) -> float:
        """Bytes of a buffer that both hold, at most its size, times seconds."""
        size, clock = self._size(index), self._clock
        held, total, before = [0, 0], 0.0, 0
        for point in sorted(one.keys() | other.keys()):
            total += min(*held, size) * (clock[point] - clock[before])
            held[0] += one[point]
            held[1] += other[point]
            before = point
        return total


def slow_clock(problem: Problem) -> list[float]:
    """(T+1,): seconds of one run before each point, everything in slow memory."""
    times = Serving(problem, MemoryMap()).times()
    return list(accumulate(times.tolist(), initial=0.0))


def overlap(a: Held, b: Held) -> Overlap:
    """How much of what two maps hold is the same buffer at the same time."""
    of_a, of_b, common = a.byte_seconds, b.byte_seconds, a.in_common(b)
    paired, close = _prefetches(a, b)
    return Overlap(
        byte_seconds=common,
        share_of_a=common / of_a if of_a else None,
        share_of_b=common / of_b if of_b else None,
        jaccard=common / (of_a + of_b - common) if of_a or of_b else None,
        prefetches=paired,
        prefetches_close=close,
    )


def _prefetches(a: Held, b: Held) -> tuple[int, int]:
    """How many prefetches are in both, and how many of these start close together."""
    starts = [_starts(x.problem, x.memory_map) for x in (a, b)]
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
