"""Which accesses a map serves from fast memory, and what each of them is worth."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import elapsed
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Program, Use

_ROUNDING = 1e-12
"""By how much of an instruction's time two of its times may be off."""


def close(one_s: float, other_s: float) -> bool:
    """Whether two times of an instruction differ by rounding alone."""
    return math.isclose(one_s, other_s, rel_tol=_ROUNDING)


def uses_served(program: Program, allocation: Allocation) -> Sequence[Use]:
    """The accesses that an allocation serves, in schedule order."""
    uses = program.uses[allocation.buffer]
    first, last = (
        bisect_left(uses, point, key=lambda use: use.instruction)
        for point in (allocation.ready, allocation.end)
    )
    return uses[first:last]


class Serving:
    """The accesses that a map serves from fast memory, instruction by instruction."""

    def __init__(self, problem: Problem, memory_map: MemoryMap) -> None:
        self.problem = problem
        self.fast: list[set[int]] = [set() for _ in problem.program.instructions]
        """(T,): the buffers that each instruction finds in fast memory."""
        for allocation in memory_map.allocations:
            for use in uses_served(problem.program, allocation):
                self.fast[use.instruction].add(allocation.buffer)

    def elapsed(self, t: int, fast: set[int] | None = None) -> float:
        """Seconds that an instruction takes: with these fast, or those of the map."""
        return elapsed(self.problem, t, self.fast[t] if fast is None else fast)

    def run_times(self) -> Floats:
        """(T,): seconds that each instruction takes, each time that it runs."""
        return np.array([self.elapsed(t) for t in range(len(self.fast))])

    def times(self) -> Floats:
        """(T,): seconds that each instruction takes in all its runs, stalls apart."""
        runs = np.array(self.problem.program.multiplicity, dtype=np.float64)
        return runs * self.run_times()

    def worth(self, t: int, buffer: int) -> float:
        """Seconds of one run that serving the access fast spares, all else as it is.

        Args:
            t: The instruction, which counts as often as it runs.
            buffer: The buffer; whether the map serves it fast makes no difference.
        """
        slow_s = self.elapsed(t, self.fast[t] - {buffer})
        fast_s = self.elapsed(t, self.fast[t] | {buffer})
        if close(slow_s, fast_s):
            return 0.0
        return self.problem.program.multiplicity[t] * (slow_s - fast_s)

    def worth_of(self, allocation: Allocation) -> float:
        """Seconds of one run that its accesses would take longer from slow memory."""
        return sum(
            self.worth(use.instruction, allocation.buffer)
            for use in uses_served(self.problem.program, allocation)
        )
