"""The strategy ``knapsack``: stays that are worth what fast memory costs at the time.

Which stays to choose is a knapsack at every instruction: their bytes against the
capacity, and the copies under way against one copy at a time. Prices for both, relaxing
these limits (Fisher, The Lagrangian relaxation method for solving integer programming
problems, 1981), leave each buffer on its own: the best stays of one are found by
dynamic programming over its accesses. Prices rise where more is chosen than fits, and
fall where less is, by multiplicative weights (Arora, Hazan and Kale, 2012). So does the
credit of an instruction, the share of its slow traffic that still saves time: it falls
where the traffic that is left hides behind computation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from hybridalloc.baselines.best import best_plan
from hybridalloc.baselines.drop import drop
from hybridalloc.baselines.moves import Candidate, Moves, until_expired
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.prices import Prices, Stays
from hybridalloc.loops import Loops
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Outcome, Run
from hybridalloc.stays import candidate_stays


@dataclass(frozen=True, slots=True)
class KnapsackConfig:
    """How prices are found, and how they become maps."""

    roundings: int = 8
    """How many maps are built, each at better prices."""
    price_steps: int = 80
    """How often prices change before each map."""
    share: float = 0.25
    """The share of the time left that prices may take before each map."""
    step: float = 2.0
    """How much a price changes where twice as much is chosen as fits, as a share."""
    bulks: tuple[float, ...] = (0.15, 0.0, 0.3)
    """How costs count when stays are bought, as a power, in one map after the other.
    Below 1, what is large comes before what is small and worth as much for its cost."""
    hope: float = 1.0
    """The share of the idle time with everything in fast memory on which copies count
    at first."""
    noise: float = 0.1
    """The standard deviation of the costs, as a share; none in the first maps."""
    displacements: int = 100
    """For how many of the stays that are left out to make room."""
    cross_programs: int = 20
    """How many cross-program prefetches to try."""

    def __post_init__(self) -> None:
        require_within("roundings", self.roundings, 1)
        require_within("price_steps", self.price_steps, 0)
        require_within("share", self.share, 0, 1)
        require_within("step", self.step, 0, 10)
        require_within("number of bulks", len(self.bulks), 1)
        for bulk in self.bulks:
            require_within("bulk", bulk, 0, 10)
        require_within("hope", self.hope, 0, 1)
        require_within("noise", self.noise, 0, 10)
        require_within("displacements", self.displacements, 0)
        require_within("cross_programs", self.cross_programs, 0)


class Knapsack:
    """Prices fast memory and its copy engine, and buys what is worth most for its cost.

    An iteration is one map. The seed decides the noise in costs.
    """

    def __init__(self, config: KnapsackConfig | None = None) -> None:
        self.config = config or KnapsackConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Build maps that are valid by construction."""
        simulator = Simulator(problem)
        return best_plan(simulator, run, self._plans(problem, simulator, run))

    def _plans(
        self, problem: Problem, simulator: Simulator, run: Run
    ) -> Iterator[Plan]:
        """What is pinned alone; then each map, in three stages."""
        if run.expired and not pinned(problem.program):
            return
        loops = Loops(problem.program)
        plan = Plan(problem, loops)
        if not plan.place_pinned():
            return
        yield plan
        stays = list(until_expired(run, candidate_stays(problem, loops)))
        if run.expired:
            return
        plan.engine.hope_for(self.config.hope)
        prices = Prices(plan, Stays.of(plan, stays, run))
        plan.engine.hope_for(0.0)
        generator = np.random.default_rng(run.seed)
        for number in range(self.config.roundings)[: run.iterations]:
            until = run.until(self.config.share)
            timely = replace(run, deadline=until)
            prices.improve(self.config.price_steps, self.config.step, timely)
            if run.expired:
                return
            cost = prices.cost ** self.config.bulks[number % len(self.config.bulks)]
            if number >= len(self.config.bulks):
                noise = generator.normal(0.0, self.config.noise, len(cost))
                cost *= np.exp(noise)
            plan = Plan(problem, loops)
            plan.place_pinned()
            priced = zip(stays, cost.tolist(), strict=False)
            candidates = [Candidate(stay, seconds) for stay, seconds in priced]
            chosen = [candidates[i] for i in np.flatnonzero(prices.chosen).tolist()]
            yield from self._round(plan, chosen, candidates, simulator, run)

    def _round(
        self,
        plan: Plan,
        chosen: list[Candidate],
        candidates: list[Candidate],
        simulator: Simulator,
        run: Run,
    ) -> Iterator[Plan]:
        """Buy what was chosen, then anything: most time saved for its cost first."""
        plan.engine.hope_for(self.config.hope)
        Moves(plan, chosen, run).place_all()
        plan.engine.hope_for(0.0)
        drop(plan, simulator, run)
        yield plan
        if run.expired:
            return
        moves = Moves(plan, candidates, run)
        moves.place_all(may_stall=True)
        yield plan
        if run.expired:
            return
        moves.displace_all(self.config.displacements)
        moves.place_cross_programs(self.config.cross_programs)
        moves.place_all(may_stall=True)
        drop(plan, simulator, run)
        yield plan
