"""Proposals: where in a program windows are worth solving."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.bounds import relaxed_serving
from hybridalloc.cost_model import elapsed
from hybridalloc.cpsat_models.windows.surroundings import Surroundings
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import MAX_TRIPS
from hybridalloc.solver import Run

SHARE = 0.2
"""Of the time, that the relaxation may take."""


class Proposer(Protocol):
    """Says where in a program windows are worth solving."""

    def __call__(self, problem: Problem, memory_map: MemoryMap, run: Run, /) -> Floats:
        """(T,): how promising a window around each instruction is; at least 0.

        All 0 where it has no proposal, as when there is no time for one.

        Args:
            problem: The program, the target and the cost model.
            memory_map: A valid map of it: the one that is to be improved.
            run: That of the strategy that asks: its deadline, seed and workers.
        """
        ...


class Disagreement:
    """Proposes where a map serves other accesses than the relaxation's solution does.

    Each counts by the seconds that serving it from fast memory saves. The relaxation is
    solved once for a problem.
    """

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._serving: dict[tuple[int, int], float] = {}

    def __call__(self, problem: Problem, memory_map: MemoryMap, run: Run) -> Floats:
        """(T,): seconds."""
        if self._problem is not problem:
            self._problem = problem
            self._serving = relaxed_serving(problem, run.until(SHARE))
        if not self._serving:
            return np.zeros(len(problem.program))
        return disagreement(problem, memory_map, self._serving)


def disagreement(
    problem: Problem, memory_map: MemoryMap, serving: dict[tuple[int, int], float]
) -> Floats:
    """(T,): seconds that accesses save which a map serves otherwise, as far as it does.

    Args:
        problem: The program, the target and the cost model.
        memory_map: A valid map of it.
        serving: In [0, 1], how far each access is to be served from fast memory, by
            instruction and buffer; 0 where there is nothing.
    """
    surroundings = Surroundings(problem.program, Loops(problem.program), memory_map)
    seconds = np.zeros(len(problem.program))
    for t, instruction in enumerate(problem.program.instructions):
        slow_s = elapsed(problem, t, ())
        for buffer in {x.buffer for x in instruction.accesses}:
            served = surroundings.served(buffer, t) is not None
            apart = abs(serving.get((t, buffer), 0.0) - served)
            saved_s = max(0.0, slow_s - elapsed(problem, t, (buffer,)))
            seconds[t] += apart * saved_s
        seconds[t] *= min(problem.program.multiplicity[t], MAX_TRIPS)
    return seconds
