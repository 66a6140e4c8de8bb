"""The strategy ``annealing``: simulated annealing of a plan."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from hybridalloc.baselines.adoption import adopt
from hybridalloc.baselines.best import Record
from hybridalloc.baselines.edits import Edits
from hybridalloc.baselines.greedy import greedy_map
from hybridalloc.baselines.moves import Weights, until_expired, weigh
from hybridalloc.baselines.neighbours import NeighbourConfig, Neighbours
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED, Outcome, Run
from hybridalloc.stays import candidate_stays

ITERATIONS = 100_000
"""Changes that are tried where neither a deadline nor their number is given."""
COLDEST = 1e-12
"""No temperature is lower, as a share of the run time; the rounding of that decides."""


@dataclass(frozen=True, slots=True)
class AnnealingConfig:
    """The schedule of temperatures, and the changes that are tried."""

    hottest: float = 2e-5
    """The first temperature, as a share of the run time at the start."""
    coldest: float = 1e-7
    """The last temperature, as a share of the run time at the start."""
    greedy_share: float = 0.5
    """The most of the time limit that the strategy greedy may take for a map to begin
    with, where no map is given."""
    weights: Weights = field(default_factory=Weights)
    """What stays are taken to cost where one of several is chosen."""
    neighbours: NeighbourConfig = field(default_factory=NeighbourConfig)
    """The changes."""

    def __post_init__(self) -> None:
        require_within("hottest", self.hottest, COLDEST, 1)
        require_within("coldest", self.coldest, COLDEST, self.hottest)
        require_within("greedy_share", self.greedy_share, 0, 1)

    def temperature(self, share: float) -> float:
        """The temperature when a share of the search is over."""
        return cooled(self.hottest, self.coldest, share)


def cooled(hottest: float, coldest: float, share: float) -> float:
    """The temperature when a share of the way has passed; it falls geometrically.

    >>> cooled(1.0, 0.01, 0.5)
    0.1
    """
    return float(hottest * (coldest / hottest) ** share)


class Annealing:
    """Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983).

    A change that makes the simulated time longer by ``d`` is kept with probability
    ``exp(-d / temperature)`` (Metropolis); the temperature falls geometrically. An
    iteration is one change. Begins with the warm start, otherwise with the map of
    ``greedy``.
    """

    def __init__(self, config: AnnealingConfig | None = None) -> None:
        self.config = config or AnnealingConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Improve a map by small changes."""
        start = run.warm_start
        if start is None:
            start = greedy_map(problem, run, self.config.greedy_share)
        if start is None:
            return UNANSWERED
        if run.expired:
            return Outcome(start)
        plan = Plan(problem, Loops(problem.program))
        untouched = adopt(plan, start, run)
        stays = until_expired(run, candidate_stays(problem, plan.loops))
        candidates = weigh(plan, stays, self.config.weights)
        simulator, random = Simulator(problem), Random(run.seed)
        edits = Edits(plan, simulator)
        neighbours = Neighbours(
            edits, candidates, untouched, self.config.neighbours, random
        )
        record = Record(run, start, simulator.simulate(start).time_s)
        try:
            if not neighbours.is_empty:
                self._anneal(edits, neighbours, record, random, run)
        finally:
            record.report()
        return Outcome(record.map)

    def _anneal(
        self,
        edits: Edits,
        neighbours: Neighbours,
        record: Record,
        random: Random,
        run: Run,
    ) -> None:
        now = start = edits.time()
        record.offer(edits.plan, now)
        for share in _progress(run):
            neighbours.change()
            if edits.is_empty:
                continue
            after, temperature = edits.time(), start * self.config.temperature(share)
            if after > now - temperature * math.log(1.0 - random.random()):
                edits.undo()
                continue
            edits.keep()
            now = after
            record.offer(edits.plan, now)


def _progress(run: Run) -> Iterator[float]:
    """How much of the run is over, in [0, 1), until it is."""
    limit = run.iterations
    if limit is None and run.deadline == math.inf:
        limit = ITERATIONS
    done, began = 0, time.monotonic()
    while not run.expired and (limit is None or done < limit):
        if limit is None:
            yield min(1.0, (time.monotonic() - began) / (run.deadline - began))
        else:
            yield done / limit
        done += 1
