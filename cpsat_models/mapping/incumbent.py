"""The best map so far, and the best bound."""

from __future__ import annotations

import math

from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.solver import PROOF_TOLERANCE, Outcome, Run, Status


class Incumbent:
    """What is known so far."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self._problem = problem
        self._run = run
        self.simulator = Simulator(problem)
        self.best: MemoryMap | None = None
        self.seconds = math.inf
        """Of the best map."""
        self.sliced_bound = run.bound
        """Seconds that no map beats."""
        self.bound = 0.0
        """Seconds that no map beats whose prefetches are in one piece; infinite if
        there is none."""

    @property
    def is_proven(self) -> bool:
        """Whether no map with prefetches in one piece is better."""
        bound = max(self.bound, self.sliced_bound)
        return self.seconds <= bound * (1 + PROOF_TOLERANCE)

    def offer(self, memory_map: MemoryMap) -> float:
        """Take a valid map if it is better: its time, in seconds."""
        seconds = self.simulator.simulate(memory_map).time_s
        if seconds < self.seconds:
            self.best, self.seconds = memory_map, seconds
            self._run.report(memory_map)
        return seconds

    def outcome(self) -> Outcome:
        """What it comes to.

        The model's own proof holds if the target slices no prefetch, and no loop is
        without trips: there copies cost nothing that the model does not know.
        """
        bound = self.sliced_bound
        runs = all(loop.trip_count for loop in self._problem.program.loops)
        if runs and self._problem.target.copy_engine.max_slices == 1:
            bound = max(bound, self.bound)
        if self.best is not None and self.seconds < bound * (1 - PROOF_TOLERANCE):
            # A warm start may be valid and yet not what solvers look for.
            return Outcome(self.best)
        if self.best is None:
            if bound == math.inf:
                return Outcome(None, Status.INFEASIBLE)
            return Outcome(None, Status.UNKNOWN)
        bound = min(bound, self.seconds)
        proven = self.seconds <= bound * (1 + PROOF_TOLERANCE)
        return Outcome(self.best, Status.OPTIMAL if proven else Status.FEASIBLE, bound)
