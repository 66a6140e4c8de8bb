"""The strategy ``cpsat``: the exact model, solved again until its answer is the truth."""

from __future__ import annotations

from hybridalloc.baselines.pins import pinned
from hybridalloc.cpsat_models.mapping.engine import Engine
from hybridalloc.cpsat_models.mapping.formulation import formulate
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.mapping.offsets import Placement
from hybridalloc.cpsat_models.mapping.options import CpSatOptions
from hybridalloc.cpsat_models.mapping.rounds import Rounds, Verdict
from hybridalloc.cpsat_models.mapping.units import units_for
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run


class CpSat:
    """Solves the whole problem with CP-SAT, each prefetch in one piece.

    It proves its answer optimal if the target slices no prefetch, or if a lower bound
    says so that holds for sliced ones too. An iteration is a hundredth of a second of
    work as CP-SAT counts it, the same on every machine.
    """

    def __init__(self, config: CpSatOptions | None = None) -> None:
        self.config = config or CpSatOptions()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Solve the model, and check its answer against the simulator."""
        incumbent = Incumbent(problem, run)
        if run.warm_start is not None:
            incumbent.offer(run.warm_start)
        if not pinned(problem.program):
            incumbent.offer(MemoryMap())
        units = units_for(problem, incumbent.simulator.slow_s)
        engine = Engine(run.deadline, workers=run.workers, seed=run.seed)
        placement = Placement(problem)
        for free_dues in (False, True):
            if run.expired:
                break
            formulation = formulate(problem, units, free_dues=free_dues)
            rounds = Rounds(formulation, incumbent, placement, engine, run)
            if rounds.all() is Verdict.DONE:
                break
        return incumbent.outcome()
