"""The strategy ``windows``: parts of a map solved exactly, one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from random import Random

import numpy as np

from hybridalloc.baselines.plan import pinned_map
from hybridalloc.cpsat_models.windows.building import build
from hybridalloc.cpsat_models.windows.choice import Choice, mixed
from hybridalloc.cpsat_models.windows.clock import Clock
from hybridalloc.cpsat_models.windows.exact import solve_exactly
from hybridalloc.cpsat_models.windows.options import Propose, WindowsConfig
from hybridalloc.cpsat_models.windows.proposing import Disagreement, Proposer
from hybridalloc.cpsat_models.windows.soundness import is_sound
from hybridalloc.cpsat_models.windows.splicing import splice
from hybridalloc.cpsat_models.windows.surroundings import (
    Crossing,
    Surroundings,
    Window,
)
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import UNANSWERED, Outcome, Run

WINDOWS = 1_000
"""How many are solved where neither a deadline nor their number is given."""
PROPOSED_FOR = 32
"""After so many windows it is asked again where others are worth solving."""


class Windows:
    """Large-neighbourhood search (Shaw, CP 1998): small windows are solved by CP-SAT.

    An iteration is one window. Begins with the warm start, otherwise with what is
    pinned to fast memory alone.
    """

    def __init__(
        self, config: WindowsConfig | None = None, proposer: Proposer | None = None
    ) -> None:
        """Take what says where windows are worth solving.

        Args:
            config: Of windows.
            proposer: Instead of what the config says.
        """
        self.config = config or WindowsConfig()
        self.proposer = proposer

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Improve a map window by window."""
        start = run.warm_start
        if start is None:
            start = pinned_map(problem)
        if start is None:
            return UNANSWERED
        run.report(start)
        if run.expired or problem.expressible:  # what a window finds hardly ever is
            return Outcome(start)
        proposer = self.proposer
        if proposer is None and self.config.propose is Propose.RELAXATION:
            proposer = Disagreement()
        search = _Search(problem, start, self.config, proposer, run)
        search.run()
        return Outcome(search.map)


class _Search:
    """The map so far, and the windows that make it better."""

    def __init__(
        self,
        problem: Problem,
        start: MemoryMap,
        config: WindowsConfig,
        proposer: Proposer | None,
        run: Run,
    ) -> None:
        self._problem, self._config, self._run = problem, config, run
        self._objective = run.objective_of(problem)
        self._loops = Loops(problem.program)
        self._choice = Choice(problem, config, Random(run.seed))
        self._clock = Clock(problem, run)
        self._proposer = proposer
        self._asked: MemoryMap | None = None
        """Of which map the proposer was asked last."""
        self._proposed = np.zeros(len(problem.program))
        """(T,): what it said."""
        self._take(self._surroundings_of(start), Window(0, len(problem.program)))

    def _surroundings_of(self, memory_map: MemoryMap) -> Surroundings:
        return Surroundings(self._problem.program, self._loops, memory_map)

    def _take(self, surroundings: Surroundings, window: Window) -> None:
        """Go on from a map that is new in a window."""
        self._surroundings, self.map = surroundings, surroundings.map
        self._score = self._objective.score(self.map)
        self._clock.measure(surroundings, window)

    def run(self) -> None:
        """Solve window after window."""
        for number in self._numbers():
            if self._run.expired or self._run.is_met(self._score):
                return
            if number % PROPOSED_FOR == 0:
                self._propose()
            window = self._choice.window(mixed(self._clock.lost, self._proposed))
            if window is None:
                return
            if len(window) > self._config.most_instructions:
                continue
            every = list(self._surroundings.crossings(window))
            crossings = self._choice.buffers(every)
            solved = not crossings or self._improve(window, crossings)
            whole = len(window) == len(self._problem.program)
            if solved and whole and len(crossings) == len(every):
                return

    def _numbers(self) -> Iterable[int]:
        """The numbers of the windows that are to be solved."""
        if self._run.iterations is not None:
            return range(self._run.iterations)
        return range(WINDOWS) if self._run.deadline == math.inf else count()

    def _propose(self) -> None:
        """Ask where windows are worth solving, if the map is another than last time."""
        if self._proposer is not None and self._asked is not self.map:
            self._asked = self.map
            self._proposed = self._proposer(self._problem, self.map, self._run)

    def _improve(self, window: Window, crossings: list[Crossing]) -> bool:
        """Solve one window, and go on from a better map that it makes.

        Returns:
            Whether nothing in the window can be better than what was found.
        """
        small = build(self._problem, self._surroundings, window, crossings, self._clock)
        answer, solved = small.present, False
        with suppress(TimeoutError):
            answer, solved = solve_exactly(
                small,
                self._run,
                seconds=self._config.window_s,
                most_literals=self._config.most_literals,
            )
        self._choice.learn(solved=solved)
        spliced = splice(small, answer) if answer is not small.present else None
        if spliced is not None and self._objective.score(spliced) < self._score:
            surroundings = self._surroundings_of(spliced)
            if is_sound(self._problem, small, surroundings):
                self._run.report(spliced)
                self._take(surroundings, window)
        return solved
