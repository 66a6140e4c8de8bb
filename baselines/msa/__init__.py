"""The strategy ``msa``: XLA's Memory Space Assignment, with its defaults for CMEM."""

from __future__ import annotations

from dataclasses import replace

from hybridalloc.baselines.msa.assigner import Assigner
from hybridalloc.baselines.msa.options import MsaOptions
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import pinned
from hybridalloc.problem import CostModel, Problem
from hybridalloc.solver import UNANSWERED, Outcome, Run

__all__ = ["Msa", "MsaOptions"]


class Msa:
    """Takes up the buffers by what they gain, and decides for each use of each.

    It believes the roofline, as XLA does, whatever the problem's cost model. It ignores
    the seed, the iterations and the warm start.
    """

    def __init__(self, config: MsaOptions | None = None) -> None:
        self.config = config or MsaOptions()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Assign buffer after buffer, until all have had their turn or time is up."""
        believed = replace(problem, cost_model=CostModel.ROOFLINE)
        loops, pins = Loops(problem.program), MemoryMap()
        if pinned(problem.program):
            plan = Plan(believed, loops)
            if not plan.place_pinned():
                return UNANSWERED
            pins = plan.memory_map()
        run.report(pins)
        assigner = Assigner(believed, loops, self.config)
        assigner.take(pins.allocations)
        try:
            assigner.assign(run)
        except KeyboardInterrupt:
            run.report(assigner.memory_map())
            raise
        return Outcome(assigner.memory_map())
