"""What ``solve`` and ``compare`` share: a search, and what a bound proves of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.output import Step
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.records import Record, References
from hybridalloc.report.static import StaticRecord
from hybridalloc.report.tables import short_name
from hybridalloc.report.units import time_text
from hybridalloc.solver import Incumbent, Result, Status, is_optimal
from hybridalloc.solving import DEFAULT_TIME_LIMIT_S, cutoff, solve

BOUND_SHARE = 0.2
"""The share of the time limit that a lower bound has, if not given."""
MOST_BOUND_S = 30.0
BOUND_S = 10.0
"""Seconds that it has where the search has no time limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an answer."""

    time_limit: float
    """Seconds of the search and the bound together; infinite without a limit."""
    bound_time: float
    """Seconds of it that the lower bound has at the end."""
    iterations: int | None
    seed: int
    workers: int

    @property
    def search_time(self) -> float:
        """Seconds that the search has."""
        return self.time_limit - self.bound_time


def limits(
    time_limit: float | None,
    bound_time: float | None,
    iterations: int | None,
    seed: int,
    workers: int,
) -> Limits:
    """The limits that a command's options say.

    Raises:
        UsageError: The bound would take more time than there is, or any time.
    """
    if time_limit is None:
        time_limit = DEFAULT_TIME_LIMIT_S if iterations is None else math.inf
    if bound_time is None:
        bound_time = BOUND_S
        if math.isfinite(time_limit):
            bound_time = min(MOST_BOUND_S, BOUND_SHARE * time_limit)
    if math.isinf(bound_time):
        raise UsageError(
            f"--bound-time {bound_time:g}: expected a finite number of seconds"
        )
    if bound_time > time_limit:
        raise UsageError(
            f"--bound-time {bound_time:g}: expected at most the time limit, "
            f"{time_limit:g} s"
        )
    return Limits(time_limit, bound_time, iterations, seed, workers)


@dataclass(frozen=True, slots=True)
class Case:
    """A problem and what its answers are compared with."""

    path: str
    problem: Problem
    references: References
    warm_start: MemoryMap | None = None
    is_robust: bool = False
    """Whether the warm start is one of these, under both cost models."""
    is_expressible: bool = False
    """Whether only maps count that XLA can be told to carry out."""


def search(case: Case, strategy: str, limits: Limits, step: Step) -> Result:
    """Solve a problem, showing the best time so far and who found it."""
    from hybridalloc.rehearsal import rehearse  # loads the compiler of inner loops

    what = f"{short_name(case.path)}: {strategy}"
    once = "compiling, once on this machine; the time limit begins after that"
    rehearse(strategy, lambda: step(f"{what}: {once}"))
    step(what)

    def improved(incumbent: Incumbent) -> None:
        best, finder = time_text(incumbent.time), incumbent.found_by
        step(f"{what}, {best} so far by {finder}")

    return solve(
        case.problem,
        strategy,
        time_limit=limits.search_time,
        iterations=limits.iterations,
        seed=limits.seed,
        workers=limits.workers,
        warm_start=case.warm_start,
        callback=improved,
        robust=case.is_robust,
        expressible=case.is_expressible,
    )


def bound(case: Case, results: Iterable[Result], seconds: float, step: Step) -> float:
    """The best lower bound of a problem: what its answers prove, or a new one.

    Args:
        case: The problem.
        results: Its answers so far; a proof among them leaves nothing to do.
        seconds: The time for a new one.
        step: Shows what is being done.

    Returns:
        Seconds; 0 if nothing is proven, infinite if there is no valid map.
    """
    best_s, known_s = math.inf, 0.0
    for result in results:
        if result.status is Status.INFEASIBLE:
            return math.inf
        best_s = min(best_s, math.inf if result.time is None else result.time)
        known_s = max(known_s, result.bound or 0.0)
    if is_optimal(best_s, known_s) or seconds <= 0:
        return known_s
    step(f"{short_name(case.path)}: lower bound")
    with suppress(KeyboardInterrupt):
        from hybridalloc.bounds import lower_bound  # loads a solver of linear programs

        found = lower_bound(case.problem, time_limit=seconds, cutoff=cutoff(best_s))
        known_s = max(known_s, found.seconds)
    return known_s


def exit_code(rows: Iterable[Record | StaticRecord]) -> Exit:
    """What answers come to."""
    statuses = {row.status for row in rows}
    if statuses & {Status.OPTIMAL, Status.FEASIBLE}:
        return Exit.ANSWER
    return Exit.INFEASIBLE if statuses == {Status.INFEASIBLE} else Exit.NO_ANSWER
