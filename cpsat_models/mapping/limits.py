"""Whether a map keeps to the limits on outstanding copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import Problem

Span = tuple[int, int]


def keeps_limits(problem: Problem, memory_map: MemoryMap) -> bool:
    """Whether at no point more copies are outstanding than the target allows.

    Args:
        problem: Whose target says how many.
        memory_map: With offsets.
    """
    engine, buffers = problem.target.copy_engine, problem.program.buffers
    fetches = [
        (issue, x.ready)
        for x in memory_map.allocations
        if x.origin is Origin.PREFETCHED
        for _, _, issue in x.parts(buffers[x.buffer].size)
    ]
    evictions = [
        (x.eviction.issue, x.eviction.due)
        for x in memory_map.allocations
        if x.eviction is not None
    ]
    return (
        _most(fetches) <= engine.max_outstanding_prefetches
        and _most(evictions) <= engine.max_outstanding_evictions
    )


def _most(spans: Iterable[Span]) -> int:
    """The most that are outstanding; issued and due at one point counts there."""
    changes: Counter[int] = Counter()
    for issue, due in spans:
        changes[issue] += 1
        changes[max(due, issue + 1)] -= 1
    return max(accumulate(changes[point] for point in sorted(changes)), default=0)
