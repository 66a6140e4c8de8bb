"""What is fixed before a game begins: the places of pinned buffers."""

from __future__ import annotations

import math

from hybridalloc.compose import as_solver
from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.solver import Run


def fixed(problem: Problem, deadline: float = math.inf) -> MemoryMap:
    """The allocations of the pinned buffers, as a heuristic places them.

    Args:
        problem: What is to be mapped.
        deadline: In seconds of ``time.monotonic()``; the heuristic places them even
            if it has passed, and nothing else then.

    Raises:
        ValueError: It finds no place for one.
    """
    pins = set(pinned(problem.program))
    if not pins:
        return MemoryMap()
    run = Run(deadline=deadline, iterations=1)
    found = as_solver("greedy").solve(problem, run).map
    if found is None:
        name = problem.program.name
        raise ValueError(f"program {name}: no place was found for a pinned buffer")
    return MemoryMap(tuple(x for x in found.allocations if x.buffer in pins))
