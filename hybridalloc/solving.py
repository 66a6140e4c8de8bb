"""``solve()`` runs a strategy and judges its answer; ``bounded()`` adds a bound."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hybridalloc.arguments import (
    read,
    require,
    require_none,
    require_takes,
    restricted,
    robust_objective,
)
from hybridalloc.compose import as_solver, asked, name_of
from hybridalloc.errors import UsageError
from hybridalloc.incumbents import Incumbents
from hybridalloc.interruption import postponed, until_interrupt
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import Robust
from hybridalloc.packing.occupancy import occupancy
from hybridalloc.problem import CostModel, Problem
from hybridalloc.solver import (
    PROOF_TOLERANCE,
    UNANSWERED,
    Incumbent,
    Metrics,
    Outcome,
    Result,
    Run,
    Solver,
    Status,
    is_optimal,
)
from hybridalloc.static.problem import StaticProblem
from hybridalloc.static.solver import StaticSolver
from hybridalloc.static.solving import solve_static
from hybridalloc.target import Target

DEFAULT_STRATEGY = "hybrid"
DEFAULT_TIME_LIMIT_S = 60.0


def solve(
    problem: Problem | StaticProblem | Path | str,
    strategy: str | Solver | StaticSolver = DEFAULT_STRATEGY,
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
    max_slices: int | None = None,
    robust: bool = False,
    expressible: bool = False,
    minimize_capacity: bool = False,
) -> Result:
    """Look for the valid memory map of least simulated time.

    Of a static problem, or a CSV file that holds one: look for offsets that fit its
    capacity; the answer is a ``StaticResult`` (docs/static.md). Ctrl-C ends the
    search: the best so far is returned.

    Args:
        problem: A problem, or the path of one.
        strategy: A solver object, the name of a strategy, or the text of a
            composition such as ``"best(msa,greedy)>annealing"`` (docs/pipelines.md).
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
        max_slices: With a path: the most parts of one prefetch, instead of the
            target's.
        robust: Look for a map that is slower than the warm start under neither cost
            model, and of these for the least geometric mean of the two times.
        expressible: Look among the maps that XLA can be told to carry out
            (docs/deploying.md); what is found elsewhere is projected onto these.
        minimize_capacity: Of a static problem: look for the least capacity.

    Raises:
        UsageError: The strategy, target or an option does not exist or apply, or the
            warm start is not valid; or ``robust`` without a warm start, or for a
            program without the compiler's estimates; or ``expressible`` for a program
            with pinned buffers.
        InputError: The path cannot be read as a problem.
        StrategyError: The strategy handed back an invalid map, a contradiction or
            no ``Outcome``.
    """
    if time_limit is None:
        time_limit = DEFAULT_TIME_LIMIT_S if iterations is None else math.inf
    most = 0 if iterations is None else iterations
    limits: dict[str, Any] = dict(time_limit=time_limit, seed=seed, workers=workers)
    require(problem, warm_start, iterations=most, **limits)
    problem = read(problem, target, cost_model, capacity, max_slices)
    if isinstance(problem, StaticProblem):
        require_none(iterations=iterations, warm_start=warm_start, callback=callback)
        require_none(robust=robust, expressible=expressible)
        chosen = cast(str | StaticSolver, strategy)
        return solve_static(problem, chosen, minimize_capacity, **limits)
    if minimize_capacity:
        raise UsageError("minimize_capacity: expected a static problem")
    solver, name = _solver(cast(str | Solver, strategy))
    if expressible:
        problem, warm_start = restricted(problem, warm_start)
    objective = robust_objective(problem, warm_start) if robust else None
    incumbents = _begin(problem, name_of(solver), time_limit, callback, objective)
    run = _run(incumbents, limits, iterations, warm_start, objective)
    outcome = _search(solver, problem, run, incumbents)
    return _result(name, outcome, run, incumbents)


def _solver(strategy: str | Solver) -> tuple[Solver, str]:
    """The solver, ready to run, and what to call it."""
    from hybridalloc.rehearsal import rehearse  # loads the compiler of inner loops

    solver = as_solver(strategy)
    name = strategy.strip() if isinstance(strategy, str) else name_of(solver)
    require_takes(solver, name, Problem)
    rehearse(solver)
    return solver, name


def _begin(
    problem: Problem,
    component: str,
    time_limit: float,
    callback: Callable[[Incumbent], None] | None,
    objective: Robust | None,
) -> Incumbents:
    from hybridalloc.simulator import Simulator  # loads the compiler of its loops

    with postponed():  # compiled code may hand on other errors in its place
        simulator = Simulator(problem)
        simulator.require_finite()
    return Incumbents(simulator, component, time_limit, callback, objective)


def _run(
    incumbents: Incumbents,
    limits: Mapping[str, Any],
    iterations: int | None,
    warm_start: MemoryMap | None,
    objective: Robust | None,
) -> Run:
    try:
        return Run(
            deadline=incumbents.started + limits["time_limit"],
            iterations=iterations,
            seed=limits["seed"],
            workers=limits["workers"],
            warm_start=warm_start,
            report=incumbents.offer,
            credit=incumbents.credit,
            objective=objective,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


def _search(
    solver: Solver, problem: Problem, run: Run, incumbents: Incumbents
) -> Outcome:
    """Run the strategy to its end, its deadline or Ctrl-C; keep every better map."""
    with suppress(TimeoutError), until_interrupt():
        if run.warm_start is not None:
            incumbents.start_from(run.warm_start)
        return incumbents.conclude(asked(solver, problem, run))
    with suppress(KeyboardInterrupt):
        incumbents.settle()
    return UNANSWERED


def _result(
    strategy: str, outcome: Outcome, run: Run, incumbents: Incumbents
) -> Result:
    """What the search comes to."""
    best = incumbents.history[-1] if incumbents.history else None
    status, bound = outcome.status, outcome.bound
    if best is not None:
        if status is not Status.OPTIMAL or run.objective is not None:
            status = Status.FEASIBLE
        elif not is_optimal(best.time, bound or 0.0):
            bound = best.time
        bound = None if bound is None else min(bound, best.time)
    result = Result(
        strategy=strategy,
        seed=run.seed,
        status=status,
        map=best.map if best else None,
        time=best.time if best else None,
        bound=bound,
        runtime=time.monotonic() - incumbents.started,
        history=tuple(incumbents.history),
        warm_start_used=run.warm_start is not None,
        metrics=_metrics(incumbents),
        infeasibility=outcome.infeasibility,
    )
    return result if run.objective is None else _robust(result, run.objective)


def _robust(result: Result, objective: Robust) -> Result:
    """The answer, with its times under both cost models."""
    if result.map is None:
        return result
    times_s = objective.times_s(result.map)
    return replace(
        result,
        times_s=objective.by_model(times_s),
        speedups_vs_start=objective.by_model(objective.speedups(times_s)),
    )


def _metrics(incumbents: Incumbents) -> Metrics | None:
    simulation = incumbents.simulation
    if simulation is None:
        return None
    program = incumbents.simulator.problem.program
    occupied = occupancy(program, incumbents.history[-1].map)
    return Metrics(
        peak_bytes=occupied.peak_bytes,
        fragmentation=occupied.fragmentation,
        moved_bytes=simulation.moved_bytes,
        stall_s=simulation.stall_s,
    )


def bounded(result: Result, bound_s: float) -> Result:
    """An answer, with what a lower bound of its problem proves of it.

    Args:
        result: The answer of ``solve()``.
        bound_s: Seconds that no valid map of the same problem beats, such as
            ``lower_bound(problem).seconds``; infinite if there is no valid map.

    Returns:
        The same answer with the larger bound of the two, and the status that follows:
        optimal if it exceeds the bound by at most ``PROOF_TOLERANCE``, infeasible if
        there is neither a map nor can be any. The answer to a robust objective
        remains feasible: the bound is one of time. A bound that the answer refutes
        is left out with a warning.
    """
    if result.status is Status.INFEASIBLE:
        return result
    own_s = result.bound or 0.0
    if result.time is None:
        known_s = max(bound_s, own_s)
        if math.isfinite(known_s):
            return replace(result, bound=known_s or None)
        return replace(result, status=Status.INFEASIBLE, bound=None)
    known_s = max(unrefuted(bound_s, result.time), own_s)
    if known_s == 0 < result.time:
        return result
    optimal = result.times_s is None and is_optimal(result.time, known_s)
    return replace(
        result,
        status=Status.OPTIMAL if optimal else result.status,
        bound=min(known_s, result.time),
    )


def cutoff(time_s: float) -> float:
    """A lower bound that proves a time optimal, with room for rounding.

    >>> is_optimal(24.0, 0.999999 * cutoff(24.0)), cutoff(24.0) < 24.0
    (True, True)
    """
    return time_s / (1 + PROOF_TOLERANCE / 2)


def unrefuted(bound_s: float, time_s: float) -> float:
    """A lower bound; 0, with a warning, if the time of a valid map shows it wrong."""
    if bound_s <= time_s * (1 + PROOF_TOLERANCE):
        return bound_s
    warnings.warn(
        f"a defect in the lower bound: {bound_s} s, yet a map of {time_s} s is valid; "
        f"it is left out; please report it",
        stacklevel=3,
    )
    return 0.0
