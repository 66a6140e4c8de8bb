"""What counts of the maps that strategies find, where not all do."""

from __future__ import annotations

from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome


def counted(problem: Problem, memory_map: MemoryMap) -> MemoryMap:
    """What counts of a map: all of it, or of an expressible problem its projection."""
    if not problem.expressible:
        return memory_map
    from hybridalloc.expressible import project  # loads the compiler of inner loops

    return project(problem, memory_map)


def counted_outcome(problem: Problem, outcome: Outcome) -> Outcome:
    """What counts of an outcome; a projection is not called optimal."""
    if outcome.map is None or not problem.expressible:
        return outcome
    return Outcome(counted(problem, outcome.map), bound=outcome.bound)
