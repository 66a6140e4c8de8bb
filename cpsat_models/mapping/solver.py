"""The strategy ``cpsat``: the exact model, solved until its answer is the truth."""

from __future__ import annotations

from contextlib import suppress

from hybridalloc.baselines.plan import pinned_map
from hybridalloc.bounds import lower_bound
from hybridalloc.cpsat_models.mapping.engine import Engine
from hybridalloc.cpsat_models.mapping.examiner import Examiner, Verdict
from hybridalloc.cpsat_models.mapping.formulation import formulate
from hybridalloc.cpsat_models.mapping.guide import Guide
from hybridalloc.cpsat_models.mapping.hints import hints_from
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.mapping.offsets import Placement
from hybridalloc.cpsat_models.mapping.options import CpSatOptions
from hybridalloc.cpsat_models.mapping.rounds import Rounds
from hybridalloc.cpsat_models.mapping.units import units_for
from hybridalloc.interruption import Interruption
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run


class CpSat:
    """Solves the whole problem with CP-SAT, each prefetch in one piece.

    It proves its answer optimal if the target slices no prefetch, or if a lower bound
    says so that holds for sliced ones too. It starts from what is pinned, and from a
    warm start. An iteration is a tenth of a second of work as CP-SAT counts it, the
    same on every machine.
    """

    def __init__(self, config: CpSatOptions | None = None) -> None:
        self.config = config or CpSatOptions()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Solve the model, and check its answer against the simulator."""
        incumbent = Incumbent(problem, run)
        if run.warm_start is not None:
            incumbent.offer(run.warm_start)
        start = pinned_map(problem)
        if start is not None:
            incumbent.offer(start)
        self._bound(problem, incumbent, run)
        with suppress(TimeoutError):
            for free_dues in (False, True):
                if run.expired or run.iterations == 0 or incumbent.is_proven:
                    break
                verdict = self._solve(problem, incumbent, run, free_dues=free_dues)
                if verdict is not Verdict.TOO_COARSE:
                    break
        return incumbent.outcome()

    def _bound(self, problem: Problem, incumbent: Incumbent, run: Run) -> None:
        """Prove a bound that holds for sliced prefetches too."""
        seconds = self.config.bound_share * run.remaining_s
        if run.iterations is not None or not seconds:
            return  # how far it gets would depend on the machine
        with Interruption() as interruption:
            bound = lower_bound(problem, time_limit=seconds, cutoff=incumbent.seconds)
        incumbent.sliced_bound = max(run.bound, bound.seconds)
        if interruption.happened:
            raise KeyboardInterrupt

    def _solve(
        self, problem: Problem, incumbent: Incumbent, run: Run, *, free_dues: bool
    ) -> Verdict:
        """Solve the model with or without free due points."""
        units = units_for(problem, incumbent.simulator.slow_s)
        formulation = formulate(
            problem,
            units,
            free_dues=free_dues,
            most_literals=self.config.most_literals,
            deadline=run.deadline,
        )
        if formulation is None:
            return Verdict.DONE
        placement = Placement(problem, Engine(run.deadline, workers=1, seed=run.seed))
        examiner = Examiner(formulation, incumbent, placement)
        guide = Guide(examiner, run)
        guide.prove(self.config.proof_share)
        if incumbent.is_proven:
            return Verdict.DONE
        guide.search(self.config.guide_share)
        if incumbent.is_proven:
            return Verdict.DONE
        engine = Engine(run.deadline, workers=run.workers, seed=run.seed)
        rounds = Rounds(examiner, engine, run)
        if incumbent.best is not None:
            rounds.hint(hints_from(formulation.variables, incumbent.best))
        return rounds.all()
