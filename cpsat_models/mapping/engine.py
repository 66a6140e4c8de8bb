"""CP-SAT with a clock, an ear for Ctrl-C, and its statuses in our words."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from enum import Enum, auto

from ortools.sat.python import cp_model

from hybridalloc.beside import beside
from hybridalloc.cpsat_models.mapping.extraction import Values


class Ending(Enum):
    """How a solve ended."""

    OPTIMAL = auto()
    """There is a solution, and none is better."""
    INFEASIBLE = auto()
    """There is no solution."""
    STOPPED = auto()
    """Neither is known: a limit was reached, or whoever watched had enough."""


class Watcher(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]  # types skipped
    """Hands on each solution, and keeps an error until the solve has ended."""

    def __init__(self, take: Callable[[Values], None]) -> None:
        super().__init__()
        self._take = take
        self.error: BaseException | None = None

    def on_solution_callback(self) -> None:
        """A solution was found."""
        try:
            self._take(lambda literal: bool(self.boolean_value(literal)))
        except BaseException as error:
            self.error = error
            self.stop_search()


class Engine:
    """One solve after another, within one deadline."""

    def __init__(self, deadline: float, *, workers: int, seed: int) -> None:
        self.deadline = deadline
        """In seconds of ``time.monotonic()``."""
        self._workers = workers
        self._seed = seed
        self.solver = cp_model.CpSolver()
        self.deterministic_s = 0.0
        """What CP-SAT counts as seconds of its work, in all."""

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def stop(self) -> None:
        """End the present solve."""
        self.solver.stop_search()

    def solve(
        self,
        model: cp_model.CpModel,
        take: Callable[[Values], None] = lambda _: None,
        *,
        is_enough: Callable[[float], bool] = lambda _: False,
        deterministic_limit: float = math.inf,
    ) -> Ending:
        """Solve a model.

        Args:
            model: What to solve.
            take: Is told of each solution.
            is_enough: Is told of each better bound; says whether it is good enough.
            deterministic_limit: Of this solve; see ``deterministic_s``.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        self._set_up(deterministic_limit)
        watcher = Watcher(take)

        def on_bound(bound: float) -> None:
            if is_enough(bound):
                self.stop()

        self.solver.best_bound_callback = on_bound
        status = self._run(model, watcher)
        self.deterministic_s += self.solver.response_proto.deterministic_time
        if watcher.error is not None:
            raise watcher.error
        if status == cp_model.MODEL_INVALID:
            raise ValueError(f"CP-SAT: {model.validate()}")
        known = {
            cp_model.OPTIMAL: Ending.OPTIMAL,
            cp_model.INFEASIBLE: Ending.INFEASIBLE,
        }
        return known.get(status, Ending.STOPPED)

    def _set_up(self, deterministic_limit: float) -> None:
        """A new solver.

        Its linear relaxation includes what holds only in part; it does not walk along
        it: with numbers of so many digits it would take forever.
        """
        self.solver = cp_model.CpSolver()
        parameters = self.solver.parameters
        parameters.num_workers = self._workers
        parameters.random_seed = self._seed % 2**31
        parameters.linearization_level = 2
        parameters.exploit_all_lp_solution = False
        parameters.catch_sigint_signal = False
        seconds = self.deadline - time.monotonic()
        if seconds < math.inf:
            parameters.max_time_in_seconds = max(0.0, seconds)
        if deterministic_limit < math.inf:
            parameters.max_deterministic_time = deterministic_limit

    def _run(self, model: cp_model.CpModel, watcher: Watcher) -> object:
        status: list[object] = []

        def work() -> None:
            status.append(self.solver.solve(model, watcher))

        with closing(beside(work, self.stop)) as waiting:
            for _ in waiting:
                pass
        return status[0]
