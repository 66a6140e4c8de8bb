"""``solve()``: run a strategy on a problem, and judge what it hands back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

from hybridalloc.errors import StrategyError, UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.registry import get_solver
from hybridalloc.solver import (
    UNANSWERED,
    Incumbent,
    Metrics,
    Outcome,
    Result,
    Run,
    Solver,
    Status,
)
from hybridalloc.target import Target

if TYPE_CHECKING:
    from hybridalloc.simulator import Simulation, Simulator

DEFAULT_STRATEGY = "greedy"
DEFAULT_TIME_LIMIT_S = 60.0
ROUNDING = 1e-6
"""By how much of a map's time a claim about it may be off."""


def solve(
    problem: Problem | Path | str,
    strategy: str | Solver = DEFAULT_STRATEGY,
    *,
    time_limit: float | None = None,
    iterations: int | None = None,
    seed: int = 0,
    workers: int = 1,
    warm_start: MemoryMap | None = None,
    callback: Callable[[Incumbent], None] | None = None,
    target: Target | str | None = None,
    cost_model: CostModel | str | None = None,
    capacity: int | None = None,
) -> Result:
    """Look for the valid memory map of least simulated time.

    Ctrl-C ends the search: the best map so far is returned.

    Args:
        problem: A problem, or the path of one.
        strategy: The name of a strategy, or a solver object.
        time_limit: Seconds, from when the problem has been read. By default 60, or
            no limit if ``iterations`` are given.
        iterations: The most iterations, of whatever the strategy iterates.
        seed: With one worker and a limit on iterations, the same seed gives the same
            map.
        workers: How many processes or threads may work at a time.
        warm_start: A valid map; the answer is never worse.
        callback: Is told of every better map as soon as it is found.
        target: With a path: the target or its name, by default ``tpu-v4i`` or what
            the problem file says.
        cost_model: With a path: how time is judged, by default ``roofline`` or what
            the problem file says.
        capacity: With a path: bytes of fast memory, instead of the target's.

    Raises:
        UsageError: The strategy, target or an option does not exist or apply, or the
            warm start is not valid.
        InputError: The path cannot be read as a problem.
        StrategyError: The strategy handed back an invalid map or a contradiction.
    """
    solver = get_solver(strategy) if isinstance(strategy, str) else strategy
    name = strategy if isinstance(strategy, str) else type(solver).__name__
    if time_limit is None:
        time_limit = DEFAULT_TIME_LIMIT_S if iterations is None else math.inf
    _require_types(
        *(problem, solver, warm_start),
        time_limit=time_limit,
        iterations=0 if iterations is None else iterations,
        seed=seed,
        workers=workers,
    )
    problem = _read(problem, target, cost_model, capacity)
    if not time_limit >= 0:
        raise UsageError(f"time limit {time_limit} is not >= 0 seconds")
    best = _Best.of(problem, name, callback)
    try:
        run = Run(
            deadline=best.started + time_limit,
            iterations=iterations,
            seed=seed,
            workers=workers,
            warm_start=warm_start,
            report=best.offer,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    outcome = _search(solver, problem, run, best)
    return best.result(outcome, run)


def require_finite_time(simulator: Simulator) -> None:
    """Refuse a problem whose numbers are too extreme to be simulated.

    Raises:
        UsageError: The time with everything in slow memory is not finite.
    """
    problem, slow_s = simulator.problem, simulator.slow_s
    if not math.isfinite(slow_s):
        raise UsageError(
            f"program {problem.program.name}: its time is not finite under target "
            f"{problem.target.name}: {slow_s} s with everything in slow memory"
        )


def _require_types(
    problem: object, solver: object, warm_start: object, **numbers: object
) -> None:
    """Refuse what is nothing of the kind that ``solve`` takes."""
    if not isinstance(problem, Problem | Path | str):
        raise UsageError(f"problem {problem!r}: expected a Problem or a path")
    if isinstance(solver, type) or not callable(getattr(solver, "solve", None)):
        raise UsageError(f"strategy {solver!r}: expected a name or a solver object")
    if not isinstance(warm_start, MemoryMap | None):
        raise UsageError(
            f"warm start {warm_start!r}: expected a MemoryMap, such as "
            f"problem.compiler_map"
        )
    for name, value in numbers.items():
        kind = Real if name == "time_limit" else Integral
        if isinstance(value, bool) or not isinstance(value, kind):
            what = "number" if kind is Real else "whole number"
            raise UsageError(f"{name} {value!r}: expected a {what}")


def _read(
    problem: Problem | Path | str,
    target: Target | str | None,
    cost_model: CostModel | str | None,
    capacity: int | None,
) -> Problem:
    if isinstance(problem, Problem):
        if (target, cost_model, capacity) != (None, None, None):
            raise UsageError(
                "target, cost_model and capacity go with a path; a problem carries "
                "its own"
            )
        return problem
    from hybridalloc.io.read import read_problem

    return read_problem(
        problem, target=target, cost_model=cost_model, capacity=capacity
    )


def _search(solver: Solver, problem: Problem, run: Run, best: _Best) -> Outcome:
    """Run the strategy to its end, its deadline or Ctrl-C; keep every better map."""
    try:
        if run.warm_start is not None:
            best.start_from(run.warm_start)
        outcome = solver.solve(problem, run)
        if outcome.map is not None:
            best.offer(outcome.map)
    except (KeyboardInterrupt, TimeoutError):
        return UNANSWERED
    best.examine(outcome)
    return outcome


@dataclass
class _Best:
    """The best map so far; judges every map that is offered."""

    problem: Problem
    strategy: str
    callback: Callable[[Incumbent], None] | None
    simulator: Simulator
    started: float = field(default_factory=time.monotonic)
    history: list[Incumbent] = field(default_factory=list)
    simulation: Simulation | None = None
    """Of the best map."""
    last_s: float = math.inf
    """The time of the map that was offered last."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        strategy: str,
        callback: Callable[[Incumbent], None] | None,
    ) -> _Best:
        from hybridalloc.simulator import Simulator

        simulator = Simulator(problem)
        require_finite_time(simulator)
        return cls(problem, strategy, callback, simulator)

    def start_from(self, warm_start: MemoryMap) -> None:
        violation = self._violation(warm_start)
        if violation is not None:
            raise UsageError(f"the warm start is not a valid map: {violation}")
        self._record(warm_start, "warm start")

    def offer(self, memory_map: MemoryMap) -> None:
        """Take a map if it is better than the best so far."""
        if self.history and memory_map is self.history[-1].map:
            self.last_s = self.history[-1].time
            return  # it was reported before it was handed back
        violation = self._violation(memory_map)
        if violation is not None:
            raise StrategyError(
                f"strategy {self.strategy} handed back an invalid map: {violation}"
            )
        self._record(memory_map, self.strategy)

    def _violation(self, memory_map: MemoryMap) -> str | None:
        from hybridalloc.checker import check

        violations = check(self.problem, memory_map)
        return violations[0].message if violations else None

    def _record(self, memory_map: MemoryMap, found_by: str) -> None:
        simulation = self.simulator.simulate(memory_map)
        self.last_s = simulation.time_s
        if self.history and not self.last_s < self.history[-1].time:
            return
        self.simulation = simulation
        runtime = time.monotonic() - self.started
        self.history.append(Incumbent(memory_map, self.last_s, runtime, found_by))
        if self.callback is not None:
            self.callback(self.history[-1])

    def examine(self, outcome: Outcome) -> None:
        """Find what the strategy claims in contradiction to the best map.

        Raises:
            StrategyError: It does.
        """
        if not self.history:
            return
        best_s, claim = self.history[-1].time, None
        if outcome.status is Status.INFEASIBLE:
            claim = "calls infeasible what has a valid map"
        elif outcome.status is Status.OPTIMAL and _exceeds(self.last_s, best_s):
            claim = f"calls a map of {self.last_s} s optimal, yet one of {best_s} s is"
            claim += " valid"
        elif outcome.bound is not None and _exceeds(outcome.bound, best_s):
            claim = f"claims a bound of {outcome.bound} s, yet a map of {best_s} s is"
            claim += " valid"
        if claim is not None:
            raise StrategyError(f"strategy {self.strategy} {claim}")

    def result(self, outcome: Outcome, run: Run) -> Result:
        """What the search comes to."""
        best = self.history[-1] if self.history else None
        status, bound = outcome.status, outcome.bound
        if best is not None and status is Status.OPTIMAL:
            bound = best.time
        elif best is not None:
            status = Status.FEASIBLE
            bound = None if bound is None else min(bound, best.time)
        return Result(
            strategy=self.strategy,
            seed=run.seed,
            status=status,
            map=best.map if best else None,
            time=best.time if best else None,
            bound=bound,
            runtime=time.monotonic() - self.started,
            history=tuple(self.history),
            warm_start_used=run.warm_start is not None,
            metrics=self._metrics(),
            infeasibility=outcome.infeasibility,
        )

    def _metrics(self) -> Metrics | None:
        if self.simulation is None:
            return None
        return Metrics(
            peak_bytes=self.history[-1].map.peak_bytes(self.problem.program),
            moved_bytes=self.simulation.moved_bytes,
            stall_s=self.simulation.stall_s,
        )


def _exceeds(seconds: float, best_s: float) -> bool:
    """Whether a time, if it is one, is above another beyond rounding."""
    return not seconds <= best_s * (1 + ROUNDING)
