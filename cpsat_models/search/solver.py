"""The strategy ``search``: local search of a whole map, very many small moves."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from hybridalloc.baselines.annealing import COLDEST, cooled
from hybridalloc.baselines.greedy import greedy_map
from hybridalloc.baselines.moves import until_expired
from hybridalloc.cpsat_models.search.walker import MoveShares, Walker
from hybridalloc.cpsat_models.search.workspace import Goal
from hybridalloc.incremental.tables import MOST_BOXES
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import Objective
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.solver import UNANSWERED, Outcome, Run
from hybridalloc.stays import candidate_stays, cross_program_stays

ROUNDING = 1e-13
"""By which share sums may exceed a limit that a map just meets."""
EVERY_S = 0.5
"""How often the best map so far is reported."""
CHUNK_S = 0.05
"""About how long moves are made before looking up."""
CHUNK = 100
"""Moves between two looks where their number is limited."""
MEETINGS = 20
"""How often walkers meet, and go on from the best map of all."""


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """The schedule of temperatures, and the moves that are made."""

    hottest: float = 1e-4
    """The first temperature, as a share of the run time at the start."""
    coldest: float = 1e-7
    """The last temperature, as a share of the run time at the start."""
    greedy_share: float = 0.3
    """The most of the time limit that the strategy greedy may take for a map to begin
    with, where no map is given."""
    moves: int = 20_000
    """The most moves for each stay that could be placed; more would find nothing."""
    shares: MoveShares = field(default_factory=MoveShares)
    """How often each kind of move is made."""

    def __post_init__(self) -> None:
        require_within("hottest", self.hottest, COLDEST, 1)
        require_within("coldest", self.coldest, COLDEST, self.hottest)
        require_within("greedy_share", self.greedy_share, 0, 1)
        require_within("moves", self.moves, 1)


class Search:
    """Simulated annealing with compiled moves and incremental evaluation.

    Starts from the warm start, otherwise from the map of ``greedy``. An iteration is
    one move of each worker; workers are threads that meet from time to time. Knows the
    robust objective.
    """

    def __init__(self, config: SearchConfig | None = None) -> None:
        self.config = config or SearchConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Improve a map by small moves."""
        start = run.warm_start
        if start is None:
            start = greedy_map(problem, run, self.config.greedy_share)
        if start is None:
            return UNANSWERED
        if run.expired or run.iterations == 0:
            return Outcome(start)
        walkers = self._walkers(problem, run, start)
        if not walkers:
            return Outcome(start)
        reporter = _Reporter(walkers, run.objective_of(problem), start, run)
        try:
            self._walk(walkers, reporter, run)
        finally:
            reporter.report()
        return Outcome(reporter.map)

    def _walkers(self, problem: Problem, run: Run, start: MemoryMap) -> list[Walker]:
        """One for each worker; none if there is no time or nothing that may change."""
        if any(len(x.slices) > MOST_BOXES for x in start.allocations):
            return []
        goal, loops = _goal(problem, run), Loops(problem.program)
        stays = list(until_expired(run, candidate_stays(problem, loops)))
        crosses = cross_program_stays(problem, loops)
        if run.expired or not (stays or crosses):
            return []
        return [
            Walker(goal, stays, crosses, start, self.config.shares, run.seed + number)
            for number in range(run.workers)
        ]

    def _walk(self, walkers: list[Walker], reporter: _Reporter, run: Run) -> None:
        """Make moves until the end, colder and colder."""
        met = 0
        with ThreadPoolExecutor(len(walkers)) as pool:
            for share, count in _progress(run, self.config.moves * walkers[0].stays):
                temperature = cooled(self.config.hottest, self.config.coldest, share)
                jobs = [pool.submit(x.walk, temperature, count) for x in walkers]
                made = sum(job.result() for job in jobs)
                reporter.look()
                if made == 0 or run.is_met(reporter.best):
                    break
                if len(walkers) > 1 and int(share * MEETINGS) > met:
                    met = int(share * MEETINGS)
                    _meet(walkers)


class _Reporter:
    """Reports the best map of all walkers, not too often."""

    def __init__(
        self, walkers: list[Walker], objective: Objective, start: MemoryMap, run: Run
    ) -> None:
        self.map = start
        self._walkers, self._run = walkers, run
        self._objective, self._score = objective, objective.score(start)
        self._known = math.inf
        self._next_at = time.monotonic()

    @property
    def best(self) -> float:
        """The objective of the best map."""
        return min(x.best for x in self._walkers)

    def look(self) -> None:
        """Report if the last report is long ago."""
        if time.monotonic() >= self._next_at:
            self.report()
            self._next_at = time.monotonic() + EVERY_S

    def report(self) -> None:
        """Report the best map if it is not known yet."""
        best = min(self._walkers, key=lambda x: x.best)
        if best.best >= self._known:
            return
        self._known, memory_map = best.best, best.memory_map()
        score = self._objective.score(memory_map)
        if score < self._score:  # the simulator decides
            self.map, self._score = memory_map, score
            self._run.report(memory_map)


def _goal(problem: Problem, run: Run) -> Goal:
    """The time; or the sum of both ratios to the limits of a robust objective.

    Close to 1, that falls with their geometric mean.
    """
    if run.objective is None:
        return Goal((problem,), (1.0,), (math.inf,))
    limits_s = run.objective.limits_s
    return Goal(
        run.objective.problems,
        tuple(1 / limit if limit else 1.0 for limit in limits_s),
        tuple(limit * (1 + ROUNDING) for limit in limits_s),
    )


def _progress(run: Run, most: int) -> Iterator[tuple[float, int]]:
    """How far the run is, as a share, and how many moves to make then; most, in all."""
    started, done, count = time.monotonic(), 0, CHUNK
    timed = run.iterations is None and run.deadline < math.inf
    if run.iterations is not None:
        most = min(most, run.iterations)
    while done < most and not run.expired:
        begun, count = time.monotonic(), min(count, most - done)
        time_share = (begun - started) / (run.deadline - started) if timed else 0.0
        yield max(time_share, done / most), count
        done += count
        if timed:
            speed = count / max(1e-6, time.monotonic() - begun)
            count = max(1, int(min(speed * CHUNK_S, 2 * count)))


def _meet(walkers: list[Walker]) -> None:
    """Let those that are behind go on from the best map."""
    best = min(walkers, key=lambda x: x.best)
    for walker in walkers:
        if walker is not best and walker.best > best.best:
            walker.join(best)
