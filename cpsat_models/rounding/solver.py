"""The strategy ``lp``: the relaxation's solution, decided bit by bit and made a map."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace

from hybridalloc.baselines.greedy import Greedy
from hybridalloc.baselines.plan import pinned_map
from hybridalloc.bounds.bounding import (
    SEARCH_SHARE,
    branch_and_bound,
    in_seconds,
    time_unit_s,
)
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.relaxation import relax, relax_to_instructions
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.rounding.config import LpConfig
from hybridalloc.cpsat_models.rounding.maps import Maps
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run
from hybridalloc.solving import cutoff

SET_UP_SHARE = 0.3
"""The share of the time left that setting up each linear program may take."""


class Lp:
    """Rounds the relaxation of ``lower_bound`` to maps, and proves what it can.

    An iteration is one map. The seed decides the noise in dives. Where there is no time
    for the relaxation, and no map to start from, it hands back that of ``greedy``.
    """

    def __init__(self, config: LpConfig | None = None) -> None:
        self.config = config or LpConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Solve the relaxation, and make maps of it."""
        incumbent = Incumbent(problem, run)
        if run.warm_start is not None:
            incumbent.offer(run.warm_start)
        start = pinned_map(problem)
        if start is None:
            return incumbent.outcome()
        incumbent.offer(start)
        incumbent.sliced_bound = max(run.bound, _least_s(problem))
        if run.iterations == 0:
            return incumbent.outcome()
        with suppress(TimeoutError):
            _Rounding(problem, incumbent, self.config, run).run()
        if incumbent.best is start and not incumbent.is_proven:
            found = Greedy().solve(problem, run).map
            if found is not None:
                incumbent.offer(found)
        return incumbent.outcome()


class _Rounding:
    """One relaxation, its bound and its maps."""

    def __init__(
        self, problem: Problem, incumbent: Incumbent, config: LpConfig, run: Run
    ) -> None:
        """Set up the relaxation.

        Raises:
            TimeoutError: There is not enough time for that.
        """
        self._problem, self._incumbent = problem, incumbent
        self._config, self._run = config, run
        self._unit_s = time_unit_s(problem)
        set_up_until = run.until(SET_UP_SHARE)
        self._relaxation = relax(problem, self._unit_s, set_up_until)
        self._search = branch_and_bound(self._relaxation, run.deadline)

    def run(self) -> None:
        """Solve the relaxation, make maps of it, and raise the bound."""
        search, began = self._search, time.monotonic()
        search.deadline = self._run.until(self._config.root_share)
        search.solve_root(self._cutoff)
        self._take_bound()
        solved = search.first is not None and search.first.optimal
        if not solved or self._incumbent.is_proven:
            return
        search.deadline = self._run.deadline
        took_s = time.monotonic() - began
        self._make_maps()
        if self._run.iterations is not None or self._incumbent.is_proven:
            return
        if self._run.remaining_s > took_s:  # or else one step may last too long
            search.deadline = self._run.until(SEARCH_SHARE)
            search.run(self._cutoff)
            self._take_bound()

    @property
    def _cutoff(self) -> float:
        """A bound that proves the best map optimal, in units of the relaxation."""
        return cutoff(self._incumbent.seconds) / self._unit_s

    def _take_bound(self) -> None:
        seconds = in_seconds(self._search.bound, self._unit_s)
        self._incumbent.sliced_bound = max(self._incumbent.sliced_bound, seconds)

    def _make_maps(self) -> None:
        """Make maps of the relaxation, then of a more cautious one."""
        until = self._run.until(1 - self._config.bound_share)
        run = replace(self._run, deadline=until)
        maps = Maps(self._problem, self._incumbent, self._config, run)
        maps.make(self._relaxation, self._search.solver, self._search.values)
        if not maps.is_time:
            return
        set_up_until = run.until(SET_UP_SHARE)
        with suppress(TimeoutError):
            cautious = relax(self._problem, self._unit_s, set_up_until, cautious=True)
            solver = LinearSolver(cautious.program)
            solver.add(self._search.cuts)
            solution = solver.solve(run.until(self._config.root_share))
            noise = 0.0
            while solution.optimal and maps.is_time:
                maps.make(cautious, solver, solution.values, noise)
                noise = self._config.noise


def _least_s(problem: Problem) -> float:
    """Seconds that the instructions take at least, each on its own."""
    relaxation = relax_to_instructions(problem, time_unit_s(problem))
    search = branch_and_bound(relaxation, math.inf)
    return in_seconds(search.bound, relaxation.unit_s)
