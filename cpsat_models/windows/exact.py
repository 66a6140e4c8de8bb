"""One window solved exactly."""

from __future__ import annotations

import math
import time

from hybridalloc.cpsat_models.mapping.engine import Engine
from hybridalloc.cpsat_models.mapping.examiner import Examiner
from hybridalloc.cpsat_models.mapping.formulation import formulate
from hybridalloc.cpsat_models.mapping.hints import hints_from
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.mapping.rounds import ITERATION_S, Rounds
from hybridalloc.cpsat_models.mapping.units import units_for
from hybridalloc.cpsat_models.windows.building import WindowProblem
from hybridalloc.cpsat_models.windows.places import WindowPlacement
from hybridalloc.memory_map import MemoryMap
from hybridalloc.solver import Run


def solve_exactly(
    window_problem: WindowProblem, run: Run, *, seconds: float, most_literals: int
) -> tuple[MemoryMap, bool]:
    """The best map of a window that is found, and whether none is better.

    Args:
        window_problem: Whose present map is where to begin.
        run: Its deadline, seed and workers.
        seconds: In all; where the run limits iterations, of work as CP-SAT counts it.
        most_literals: For copies; a model with more is not solved.

    Raises:
        TimeoutError: The model was not built in time.
    """
    problem, present = window_problem.problem, window_problem.present
    own = _limited(run, seconds)
    incumbent = Incumbent(problem, own)
    simulator, present_s = incumbent.simulator, incumbent.offer(present)
    if present_s <= 0:
        return present, True
    formulation = formulate(
        problem,
        units_for(problem, present_s, longest_s=max(simulator.slow_s, present_s)),
        free_dues=False,
        most_literals=most_literals,
        deadline=own.deadline,
    )
    if formulation is None:
        return present, False
    placement = WindowPlacement(problem, own, len(window_problem.crossings))
    examiner = Examiner(formulation, incumbent, placement)
    engine = Engine(own.deadline, workers=run.workers, seed=run.seed)
    rounds = Rounds(examiner, engine, own)
    rounds.hint(hints_from(formulation.variables, present))
    rounds.all()
    return incumbent.best or present, incumbent.is_proven


def _limited(run: Run, seconds: float) -> Run:
    """The run of one window, whose maps are not reported: they are no whole ones."""
    if run.iterations is not None:
        work = math.ceil(seconds / ITERATION_S)
        return Run(run.deadline, work, run.seed, run.workers)
    deadline = min(run.deadline, time.monotonic() + seconds)
    return Run(deadline, None, run.seed, run.workers)
