"""The strategy ``slow``: everything stays in slow memory."""

from __future__ import annotations

from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.solver import UNANSWERED, Outcome, Run


class Slow:
    """The empty map; no answer where a buffer is pinned to fast memory."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Leave every buffer in slow memory."""
        return UNANSWERED if pinned(problem.program) else Outcome(MemoryMap())
