"""``solve_static()`` runs a strategy, checks its offsets and judges the answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from hybridalloc.arguments import require_takes
from hybridalloc.compose import as_solver, name_of
from hybridalloc.errors import StrategyError, UsageError
from hybridalloc.interruption import until_interrupt
from hybridalloc.solver import Metrics, Run, Solver, Status
from hybridalloc.static.checker import check_offsets
from hybridalloc.static.load import Peak, lower_bound, peak_of
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.proofs import StaticInfeasibility, refute
from hybridalloc.static.reduction import reduced
from hybridalloc.static.result import StaticResult
from hybridalloc.static.solver import UNDECIDED, Placement, StaticSolver
from hybridalloc.static.strategies import (
    DEFAULT_STRATEGY,
    static_solver,
    static_text,
)
from hybridalloc.static.units import common_alignment, unit_of

DEFAULT_TIME_LIMIT_S = 60.0
FIRST_SLICE_S = 1.0
"""The time that a capacity is tried at first, at least, while the least is sought."""
TIMES = 2.0
"""So many times as long as the first offsets took, if that is more."""
SHARE = 0.1
"""Of the time that is left, what making the culprits few may take."""
MOST_REDUCTION_S = 30.0
"""What it may take at most, however much time is left."""
REFUTED = Placement(is_impossible=True, found_by="inspection")
"""It is plain to see that no offsets fit."""


def solve_static(
    problem: StaticProblem,
    strategy: str | StaticSolver = DEFAULT_STRATEGY,
    minimize_capacity: bool = False,
    *,
    time_limit: float = DEFAULT_TIME_LIMIT_S,
    seed: int = 0,
    workers: int = 1,
) -> StaticResult:
    """Look for offsets that fit the capacity, or for the least capacity.

    Ctrl-C ends the search: the best offsets so far are returned.

    Args:
        problem: What to place. Without a capacity, the least is looked for.
        strategy: A solver, or the name of one (docs/static.md).
        minimize_capacity: Look for the least capacity, within the one given.
        time_limit: Seconds.
        seed: With one worker and enough time, the same seed gives the same offsets.
        workers: How many threads may work at a time.

    Raises:
        UsageError: There is no such strategy, or an option is impossible.
        StrategyError: The strategy handed back offsets that break a rule.

    >>> from hybridalloc.static.problem import StaticBuffer
    >>> a, b = StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 2, 2, 5)
    >>> solve_static(StaticProblem("p", (a, b)), "fits").offsets
    (0, 4)
    """
    if not time_limit >= 0:
        raise UsageError(f"time_limit {time_limit}: expected at least 0 seconds")
    if workers < 1 or seed < 0:
        raise UsageError(
            f"workers {workers}, seed {seed}: expected at least 1 and at least 0"
        )
    if isinstance(strategy, str):
        from hybridalloc.static.rehearsal import rehearse  # loads the compiler of loops

        name = static_text(strategy)
        solver = static_solver(name)
        rehearse(name)
    else:
        given = as_solver(cast(Solver, strategy))
        solver, name = cast(StaticSolver, given), name_of(given)
        require_takes(solver, name, StaticProblem)
    run = Run(time.monotonic() + time_limit, seed=seed, workers=workers)
    search = _Search(problem, solver, run, name)
    with until_interrupt():
        search.decide()
        if minimize_capacity or problem.capacity is None:
            search.minimize()
    return search.answer()


class _Search:
    """What is known so far of a problem's answer."""

    def __init__(
        self, problem: StaticProblem, solver: StaticSolver, run: Run, name: str
    ) -> None:
        self._problem, self._solver, self._run, self._name = problem, solver, run, name
        self._started = time.monotonic()
        self._load = peak_of(problem.buffers)
        self._unit = unit_of(problem)
        bound = lower_bound(problem)
        self._bound = -(-bound // self._unit) * self._unit
        self._best: Placement = UNDECIDED
        self._infeasibility: StaticInfeasibility | None = None

    def decide(self) -> None:
        """Find offsets that fit the capacity given, or prove that there are none."""
        obstructed = _obstructed(self._problem)
        plain = refute(obstructed)
        if plain is not None:
            more = self._bound - obstructed.room if plain.excess_bytes else 0
            most = max(more, plain.excess_bytes)
            self._infeasibility = replace(plain, excess_bytes=most)
            self._best = REFUTED
            return
        found = self._try(self._problem.capacity, self._run)
        if found.is_impossible:
            self._infeasibility = self._reduced(obstructed)
        self._best = found

    def _reduced(self, obstructed: StaticProblem) -> StaticInfeasibility:
        """Why the capacity is too small, with few culprits if there is time."""
        capacity = obstructed.room
        self._rule_out(capacity)
        most = time.monotonic() + MOST_REDUCTION_S
        run = replace(self._run, deadline=min(most, self._run.until(SHARE)))
        return reduced(obstructed, self._solver, run, self._bound - capacity)

    def _rule_out(self, capacity: int) -> None:
        """Remember that no offsets fit a capacity: nor do any below the next unit."""
        self._bound = max(self._bound, (capacity // self._unit + 1) * self._unit)

    def minimize(self) -> None:
        """Look for offsets that need less, at first at the least and in the middle."""
        taken = time.monotonic() - self._started
        seconds = max(FIRST_SLICE_S, TIMES * taken)
        while self._best.offsets is not None and not self._run.expired:
            peak = self._peak(self._best.offsets)
            steps = -(-(peak - self._bound) // self._unit)
            if steps <= 0:
                return
            if not any(
                self._improve(self._bound + step * self._unit, seconds)
                for step in sorted({0, steps // 2, steps - 1})
            ):
                seconds *= 2

    def _improve(self, capacity: int, seconds: float) -> bool:
        """Try a capacity for some time; whether anything is new then."""
        deadline = min(self._run.deadline, time.monotonic() + seconds)
        found = self._try(capacity, replace(self._run, deadline=deadline))
        if found.offsets is not None:
            self._best = found
        elif found.is_impossible:
            self._rule_out(capacity)
        return found.is_answer

    def _try(self, capacity: int | None, run: Run) -> Placement:
        """Run the strategy; its offsets, if any, have passed the checker."""
        if run.expired:
            return UNDECIDED
        problem = replace(self._problem, capacity=capacity)
        obstructed = _obstructed(problem)
        if capacity is not None and refute(obstructed) is not None:
            return REFUTED
        found: object = self._solver.solve(obstructed, run)
        if not isinstance(found, Placement):  # of a caller's own
            raise StrategyError(f"{self._name}: expected a Placement, got {found!r}")
        if found.offsets is None:
            return found
        found = replace(found, offsets=found.offsets[: len(problem)])
        violations = check_offsets(problem, found.offsets or ())
        if violations:
            raise StrategyError(f"{self._name}: {violations[0].message}")
        return found

    def _peak(self, offsets: Sequence[int]) -> int:
        ends = zip(self._problem.buffers, offsets, strict=True)
        return max((offset + x.size for x, offset in ends), default=0)

    def answer(self) -> StaticResult:
        """What is known."""
        offsets = self._best.offsets
        peak = None if offsets is None else self._peak(offsets)
        status = Status.UNKNOWN
        if self._best.is_impossible:
            status = Status.INFEASIBLE
        elif peak is not None:
            status = Status.OPTIMAL if peak <= self._bound else Status.FEASIBLE
        return StaticResult(
            strategy=self._name,
            seed=self._run.seed,
            status=status,
            map=None,
            time=None,
            bound=None,
            runtime=time.monotonic() - self._started,
            history=(),
            warm_start_used=False,
            metrics=None if peak is None else _metrics(peak, self._load),
            infeasibility=self._infeasibility,
            offsets=offsets,
            capacity=self._problem.capacity,
            bound_bytes=self._bound,
            load=self._load,
            found_by=self._best.found_by,
        )


def _metrics(peak: int, load: Peak) -> Metrics:
    """What is used: nothing is copied, and nothing waits."""
    fragmentation = 1 - load.bytes / peak if peak else 0.0
    return Metrics(peak, fragmentation, moved_bytes=0, stall_s=0.0)


def _obstructed(problem: StaticProblem) -> StaticProblem:
    """The same problem, with fixed buffers at the end for what is reserved."""
    if not problem.reserved:
        return problem
    room = problem.room
    start = min((x.start for x in problem.buffers), default=0)
    end = max((x.end for x in problem.buffers), default=0)
    step = common_alignment(problem)
    obstacles = [
        StaticBuffer(
            name=f"reserved [{low}, {high})",
            size=min(high, room) - low,
            start=start,
            end=end,
            alignment=1 if low % step else step,
            offset=low,
        )
        for low, high in problem.merged_ranges
        if low < room
    ]
    buffers = (*problem.buffers, *obstacles)
    return replace(problem, buffers=buffers, reserved=())
