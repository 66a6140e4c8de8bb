"""CP-SAT with a clock, an ear for Ctrl-C, and its statuses in our words."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from enum import Enum, auto

from ortools.sat.python import cp_model

from hybridalloc.cpsat_models.mapping.variables import Lit


class Ending(Enum):
    """How a solve ended."""

    OPTIMAL = auto()
    """There is a solution, and none is better."""
    INFEASIBLE = auto()
    """There is no solution."""
    STOPPED = auto()
    """Neither is known: the limit was reached, or whoever watched had enough."""


class Watcher(cp_model.CpSolverSolutionCallback):
    """Is told of each solution of a solve."""

    def __init__(self, take: Callable[[Callable[[Lit], bool]], None]) -> None:
        super().__init__()
        self._take = take

    def on_solution_callback(self) -> None:
        """A solution was found."""
        self._take(lambda literal: bool(self.boolean_value(literal)))


class Engine:
    """One solve after another, within one deadline."""

    def __init__(self, deadline: float, *, workers: int, seed: int) -> None:
        self._deadline = deadline
        self._workers = workers
        self._seed = seed
        self._stopped = False
        self.solver = cp_model.CpSolver()
        self.deterministic_s = 0.0
        """What CP-SAT counts as seconds of its work, in all."""

    def stop(self) -> None:
        """End the present solve."""
        self._stopped = True
        self.solver.stop_search()

    def solve(
        self,
        model: cp_model.CpModel,
        watcher: cp_model.CpSolverSolutionCallback | None = None,
        *,
        heed_bound: Callable[[float], bool] | None = None,
        deterministic_limit: float = math.inf,
    ) -> Ending:
        """Solve a model.

        Args:
            model: What to solve.
            watcher: Is told of each solution.
            heed_bound: Told each better bound; says whether it is good enough.
            deterministic_limit: Of this solve; see ``deterministic_s``.

        Raises:
            KeyboardInterrupt: Ctrl-C ended the solve.
        """
        solver = self.solver = cp_model.CpSolver()
        parameters = solver.parameters
        parameters.num_workers = self._workers
        parameters.random_seed = self._seed % 2**31
        parameters.exploit_all_lp_solution = False
        parameters.linearization_level = 2
        seconds = self._deadline - time.monotonic()
        if seconds < math.inf:
            parameters.max_time_in_seconds = max(0.0, seconds)
        if deterministic_limit < math.inf:
            parameters.max_deterministic_time = deterministic_limit
        in_main = threading.current_thread() is threading.main_thread()
        parameters.catch_sigint_signal = in_main
        if heed_bound is not None:
            self._heed(heed_bound)
        self._stopped = False
        status = solver.solve(model, watcher)
        spent = solver.response_proto.deterministic_time
        self.deterministic_s += spent
        if status == cp_model.MODEL_INVALID:
            raise ValueError(f"CP-SAT: {model.validate()}")
        if status == cp_model.OPTIMAL:
            return Ending.OPTIMAL
        if status == cp_model.INFEASIBLE:
            return Ending.INFEASIBLE
        in_time = time.monotonic() < self._deadline and spent < deterministic_limit
        if in_main and in_time and not self._stopped:
            raise KeyboardInterrupt  # what CP-SAT caught
        return Ending.STOPPED

    def _heed(self, heed_bound: Callable[[float], bool]) -> None:
        def on_bound(bound: float) -> None:
            if heed_bound(bound):
                self.stop()

        self.solver.best_bound_callback = on_bound
