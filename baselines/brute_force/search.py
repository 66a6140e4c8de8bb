"""The search over all combinations of the choices for each buffer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from hybridalloc.baselines.brute_force.choice import Choice
from hybridalloc.baselines.brute_force.combinations import Best, Combinations
from hybridalloc.baselines.brute_force.costs import Clock
from hybridalloc.baselines.brute_force.frontier import Frontier
from hybridalloc.baselines.brute_force.options import Option, Shared
from hybridalloc.baselines.brute_force.placement import Placement
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""Of the way from a bound to the time with everything in slow memory."""


class Search:
    """The best map over all combinations of the choices for each buffer.

    Combinations that serve the same accesses are searched together. They are taken in
    order of the least time that they may take until it exceeds that of the best map.
    """

    def __init__(self, problem: Problem, run: Run) -> None:
        self._problem, self._run = problem, run
        self.best = Best(Simulator(problem), run)
        self.placement = Placement(problem)
        self._shared = Shared(problem, self.placement)
        self._clock = Clock(problem)
        self._options: list[dict[int, list[Option]]] = []
        self._iterations = 0

    def all(self, choices: Sequence[Sequence[Choice]]) -> bool:
        """Search to the end, or for as many iterations as the run allows.

        Without a good map to begin with, too much would have to be searched. So at
        first only maps below a time are looked for, which rises until one is found.

        Args:
            choices: For each buffer.

        Returns:
            Whether it came to the end.

        Raises:
            TimeoutError: At the deadline.
        """
        self._options = [self._by_served(b, each) for b, each in enumerate(choices)]
        frontier = Frontier(self._problem, self._shared.limits, self._options)
        lowest_s, slow_s = frontier.lowest_s, self.best.simulator.slow_s
        cutoffs = [lowest_s + share * (slow_s - lowest_s) for share in SHARES]
        self.best.any_will_do = True
        if not self._finishes(frontier):
            return False
        self.best.any_will_do = False
        for self.best.cutoff_s in (*cutoffs, math.inf):
            if not self._finishes(frontier):
                return False
            if self.best.seconds < self.best.cutoff_s:
                break
        return True

    def _finishes(self, frontier: Frontier) -> bool:
        """Search for maps that are of interest: whether it came to the end."""
        clock = self._clock
        for served in frontier.in_order(self.best.rules_out):
            if self._run.expired:
                raise TimeoutError
            if self._iterations == self._run.iterations:
                return False
            self._iterations += 1
            options = [self._options[b][mask] for b, mask in enumerate(served)]
            clock.set(served)
            Combinations(self.best, self._shared, clock, options).all()
        return True

    def _by_served(
        self, buffer: int, choices: Sequence[Choice]
    ) -> dict[int, list[Option]]:
        """The options for a buffer by the accesses that they serve."""
        options: dict[int, list[Option]] = defaultdict(list)
        for option in self._shared.options(buffer, choices):
            options[option.choice.served].append(option)
        return options
