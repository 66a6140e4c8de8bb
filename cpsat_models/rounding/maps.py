"""Maps of the solutions of a relaxation, one after the other."""

from __future__ import annotations

import time

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.relaxation import Relaxation
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.rounding.building import Builder
from hybridalloc.cpsat_models.rounding.config import LpConfig
from hybridalloc.cpsat_models.rounding.dive import Diver, Manner
from hybridalloc.cpsat_models.rounding.holding import Holding, Holdings, StayFinder
from hybridalloc.cpsat_models.rounding.settling import settle
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

DIVE_SHARE = 0.4
"""The share of the time left that a dive may take."""
HELD = 0.9
"""What a decided solution holds to this part at least, it holds."""


class Maps:
    """Makes maps, as many as there is time for."""

    def __init__(
        self, problem: Problem, incumbent: Incumbent, config: LpConfig, run: Run
    ) -> None:
        """Nothing is made yet.

        Args:
            problem: What they are for.
            incumbent: Takes them.
            config: How many, and how.
            run: Its limits; what comes after the maps is no part of it.
        """
        self._incumbent, self._config, self._run = incumbent, config, run
        self._builder = Builder(problem, incumbent.simulator, config, run)
        self._finder = StayFinder(problem, Loops(problem.program))
        self._rng = np.random.default_rng(run.seed)
        self._left = config.maps if run.iterations is None else run.iterations
        self._took_s = 0.0

    @property
    def is_time(self) -> bool:
        """Whether there is time, and use, for one more."""
        in_time = self._run.remaining_s > self._took_s
        return in_time and self._left > 0 and not self._incumbent.is_proven

    def make(
        self,
        relaxation: Relaxation,
        solver: LinearSolver,
        values: Floats,
        noise: float = 0.0,
    ) -> None:
        """A series: dive, build, and dive again without what was missing then.

        Args:
            relaxation: What the columns mean.
            solver: Of its program, perhaps with cuts.
            values: (columns,): its solution.
            noise: The standard deviation of what is added to values.
        """
        diver, holdings = Diver(relaxation, solver), Holdings(relaxation)
        manner = Manner(self._config.batch, noise)
        missing: list[Holding] = []
        for _ in range(self._config.repairs):
            if not self.is_time:
                return
            began = time.monotonic()
            until = self._run.until(DIVE_SHARE)
            decided = diver.dive(values, missing, manner, self._rng, until)
            missed = self._build(list(holdings.of(decided, HELD)))
            self._left -= 1
            self._took_s = time.monotonic() - began
            if not missed:
                return
            missing += missed

    def _build(self, held: list[Holding]) -> list[Holding]:
        """Build a map of what is held, and offer it; what is missing there."""
        crosses = {one: self._finder.cross_program(one) for one in held}
        stays = {one: self._finder.stay(one) for one in held if crosses[one] is None}
        settled = settle(
            self._builder.empty,
            [stay for stay in stays.values() if stay is not None],
            [stay for stay in crosses.values() if stay is not None],
        )
        plan = self._builder.build(settled)
        if plan is None:
            return []
        self._incumbent.offer(plan.memory_map())
        wanted = {*settled.stays}
        return [
            one
            for one, stay in stays.items()
            if stay in wanted and not plan.overlapping(stay)
        ]
