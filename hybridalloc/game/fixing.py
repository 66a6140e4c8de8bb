"""What is fixed before a game begins: the places of pinned buffers."""

from __future__ import annotations

from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.solving import solve


def fixed(problem: Problem) -> MemoryMap:
    """The allocations of the pinned buffers, as a heuristic places them.

    Raises:
        ValueError: It finds no place for one.
    """
    pins = set(pinned(problem.program))
    found = solve(problem, "greedy", iterations=1).map if pins else MemoryMap()
    if found is None:
        name = problem.program.name
        raise ValueError(f"program {name}: no place was found for a pinned buffer")
    return MemoryMap(tuple(x for x in found.allocations if x.buffer in pins))
