"""The strategy ``packing``: CP-SAT, on each part of time by itself."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from hybridalloc.beside import beside
from hybridalloc.cpsat_models.packing.model import PackingModel
from hybridalloc.solver import Run
from hybridalloc.static.parts import parts_of
from hybridalloc.static.problem import StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement

NAME = "packing"


@dataclass(frozen=True, slots=True)
class PackingOptions:
    """The options of the exact model."""

    most_buffers: int = 3000
    """Larger problems are left to others: their models would take too much memory."""


class Packing:
    """Solves the exact model with CP-SAT; complete whatever buffers look like."""

    def __init__(self, config: PackingOptions | None = None) -> None:
        self.config = config or PackingOptions()

    def solve(self, problem: StaticProblem, run: Run) -> Placement:
        """Look for offsets within the capacity, or a proof that there are none."""
        offsets = {x.name: x.offset or 0 for x in problem.buffers}
        for part in parts_of(problem.buffers):
            if len(part) > self.config.most_buffers or run.expired:
                return UNDECIDED
            model = PackingModel(
                replace(problem, buffers=tuple(part), capacity=problem.room)
            )
            status, solver = _solve(model, run)
            if status == cp_model.INFEASIBLE:
                return Placement(is_impossible=True, found_by=NAME)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return UNDECIDED
            for buffer, offset in zip(part, model.offsets, strict=True):
                offsets[buffer.name] = solver.value(offset) * model.units.unit
        return Placement(tuple(offsets.values()), found_by=NAME)


def _solve(model: PackingModel, run: Run) -> tuple[object, cp_model.CpSolver]:
    """Run CP-SAT, with an ear for Ctrl-C and for the end of the run."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = run.workers
    parameters.random_seed = run.seed % 2**31
    parameters.catch_sigint_signal = False
    seconds = run.deadline - time.monotonic()
    if seconds < float("inf"):
        parameters.max_time_in_seconds = max(0.0, seconds)
    status: list[object] = []

    def work() -> None:
        status.append(solver.solve(model.model))

    with closing(beside(work, solver.stop_search)) as waiting:
        for _ in waiting:
            if run.expired:
                solver.stop_search()
    return status[0], solver
