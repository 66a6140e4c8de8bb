"""``verify()``: whether a map is valid, and how far from optimal it is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

from hybridalloc.errors import UsageError
from hybridalloc.interruption import Interruption
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import (
    PROOF_TOLERANCE,
    Incumbent,
    Result,
    Status,
    gap,
    is_optimal,
)
from hybridalloc.solving import (
    DEFAULT_TIME_LIMIT_S,
    cutoff,
    solve,
    unrefuted,
)

if TYPE_CHECKING:
    from hybridalloc.checker import Violation

BOUND_SHARE = 0.4
"""The share of the time that the lower bound has."""
EXACT, HEURISTIC = "cpsat", "annealing"
EXACT_SHARE = 0.6
"""The share of the rest that the exact model has, where it is tried."""
MOST_EXACT_INSTRUCTIONS = 2000
"""In larger programs the exact model has no chance, and is not tried."""


class Verdict(StrEnum):
    """What is known about a map."""

    INVALID = "invalid"
    OPTIMAL = "optimal"
    """It is valid, and no valid map is faster: proven."""
    WITHIN = "within"
    """It is valid, and within a gap of the best possible."""
    IMPROVED = "improved"
    """It is valid, and a faster one was found."""


@dataclass(frozen=True, slots=True)
class OptimalityReport:
    """What is known about a map; seconds are simulated, under the problem's model."""

    verdict: Verdict
    violations: tuple[Violation, ...]
    """Empty if it is valid."""
    time: float | None
    """Seconds of one run; ``None`` if it is not valid."""
    bound: float | None
    """Seconds that no valid map beats; ``None`` if none is proven."""
    better: MemoryMap | None
    """A faster map, if one was found; it has passed the checker."""
    better_time: float | None
    """Seconds of one run with that."""
    unsliced_optimal: bool
    """Whether, of all maps without sliced prefetches, the best one known is proven to
    be the best. Where the verdict leaves a gap, only slices could close it."""
    runtime: float
    """Seconds that it took."""

    @property
    def gap(self) -> float | None:
        """How far the map may be from the best possible: time / bound - 1."""
        return gap(self.time, self.bound)

    @property
    def better_gap(self) -> float | None:
        """How far the better map may be: its time / bound - 1."""
        return gap(self.better_time, self.bound)

    @property
    def is_better_optimal(self) -> bool:
        """Whether no valid map is faster than the better one: proven."""
        if self.better_time is None or self.bound is None:
            return False
        return is_optimal(self.better_time, self.bound)

    @property
    def improvement(self) -> float | None:
        """How much faster the better map is: time / its time - 1."""
        return gap(self.time, self.better_time)


def verify(
    problem: Problem,
    memory_map: MemoryMap,
    *,
    time_limit: float = DEFAULT_TIME_LIMIT_S,
    workers: int = 1,
    callback: Callable[[str], None] | None = None,
) -> OptimalityReport:
    """Find out whether a map is valid and optimal, or how far from that it is.

    The checker comes first, then a lower bound, and if that leaves a gap, a search for
    a better map that starts from this one: by the exact model ``cpsat`` where it has a
    chance, and by ``annealing``. Ctrl-C ends it: what is known so far is returned.

    Args:
        problem: The program, the target, and the cost model that counts.
        memory_map: Any map of the program.
        time_limit: Seconds.
        workers: How many processes or threads may search at a time.
        callback: Is told what is being done.

    Raises:
        UsageError: The time limit is not a number of seconds, or the time of the
            program is not finite.
    """
    from hybridalloc.checker import check

    for module in ("hybridalloc.bounds", "hybridalloc.simulator"):
        import_module(module)  # which takes a second, before the clock starts
    if not 0 <= time_limit < math.inf:
        raise UsageError(
            f"time limit {time_limit}: expected a finite number of seconds"
        )
    started = time.monotonic()
    tell = callback or _ignore
    tell("checking")
    violations = check(problem, memory_map)
    if violations:
        return _invalid(violations, started)
    deadline = started + time_limit
    verification = _Verification(problem, memory_map, deadline, workers, tell)
    with suppress(KeyboardInterrupt), Interruption() as interruption:
        verification.bound()
        done = interruption.happened or verification.is_proven
        if not done and verification.remaining_s > 0:
            verification.search(interruption)
    return verification.report(time.monotonic() - started)


def _ignore(_: str) -> None:
    pass


def _invalid(violations: tuple[Violation, ...], started: float) -> OptimalityReport:
    return OptimalityReport(
        verdict=Verdict.INVALID,
        violations=violations,
        time=None,
        bound=None,
        better=None,
        better_time=None,
        unsliced_optimal=False,
        runtime=time.monotonic() - started,
    )


class _Verification:
    """What is known about a valid map, as it grows."""

    def __init__(
        self,
        problem: Problem,
        memory_map: MemoryMap,
        deadline: float,
        workers: int,
        tell: Callable[[str], None],
    ) -> None:
        from hybridalloc.simulator import Simulator  # loads the compiler of its loops

        simulator = Simulator(problem)
        simulator.require_finite()
        self.problem = problem
        self.time_s = self.best_s = simulator.simulate(memory_map).time_s
        self.best = memory_map
        self.bound_s = 0.0
        self.unsliced_optimal = False
        self._deadline, self._workers, self._tell = deadline, workers, tell

    @property
    def is_proven(self) -> bool:
        """Whether the best map known is optimal."""
        return is_optimal(self.best_s, self.bound_s)

    @property
    def remaining_s(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self._deadline - time.monotonic())

    def bound(self) -> None:
        """Prove a lower bound."""
        from hybridalloc.bounds import lower_bound  # loads a solver of linear programs

        self._tell("lower bound")
        seconds = BOUND_SHARE * self.remaining_s
        found = lower_bound(
            self.problem, time_limit=seconds, cutoff=cutoff(self.time_s)
        )
        self.bound_s = unrefuted(found.seconds, self.time_s)

    def search(self, interruption: Interruption) -> None:
        """Look for a better map, exactly if that has a chance; then in any way."""
        if len(self.problem.program) <= MOST_EXACT_INSTRUCTIONS:
            with suppress(UsageError):  # it does not apply
                self._search_exactly()
        if not (interruption.happened or self.is_proven or self.unsliced_optimal):
            self._take(self._solve(self.problem, HEURISTIC, self.remaining_s))

    def report(self, runtime: float) -> OptimalityReport:
        """What it comes to, after so many seconds."""
        improved = self.best_s * (1 + PROOF_TOLERANCE) < self.time_s
        bound_s = min(self.bound_s, self.best_s)
        optimal = is_optimal(self.time_s, self.bound_s)
        verdict = Verdict.OPTIMAL if optimal else Verdict.WITHIN
        return OptimalityReport(
            verdict=Verdict.IMPROVED if improved else verdict,
            violations=(),
            time=self.time_s,
            bound=None if self.bound_s == 0 < self.best_s else bound_s,
            better=self.best if improved else None,
            better_time=self.best_s if improved else None,
            unsliced_optimal=self.unsliced_optimal,
            runtime=runtime,
        )

    def _search_exactly(self) -> None:
        """The model knows no slices: if the map has none, do without, for a proof."""
        problem, sliced = self.problem, any(a.slices for a in self.best.allocations)
        engine = problem.target.copy_engine
        if engine.max_slices > 1 and not sliced:
            unsliced = replace(engine, max_slices=1)
            target = replace(problem.target, copy_engine=unsliced)
            problem = replace(problem, target=target)
        found = self._solve(problem, EXACT, EXACT_SHARE * self.remaining_s)
        self.unsliced_optimal = (
            found.status is Status.OPTIMAL and problem is not self.problem
        )
        self._take(found)
        if problem is self.problem and found.bound is not None:
            self.bound_s = max(self.bound_s, found.bound)

    def _take(self, found: Result) -> None:
        if found.map is not None and found.time is not None:
            self.best, self.best_s = found.map, found.time
        self.bound_s = unrefuted(self.bound_s, self.best_s)

    def _solve(self, problem: Problem, strategy: str, seconds: float) -> Result:
        self._tell(f"looking for a better map: {strategy}")

        def improved(incumbent: Incumbent) -> None:
            if incumbent.time < self.time_s:
                saved = 1 - incumbent.time / self.time_s
                self._tell(f"looking for a better map: {strategy}, {saved:.2%} saved")

        return solve(
            problem,
            strategy,
            time_limit=seconds,
            workers=self._workers,
            warm_start=self.best,
            callback=improved,
        )
