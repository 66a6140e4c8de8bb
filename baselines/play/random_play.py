"""The strategy ``random-play``: random legal actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from hybridalloc.baselines.play.episodes import best_episode
from hybridalloc.game import Action, GameConfig
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.heuristics import names_in
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run

STEPS = 256
"""How many decisions are made before anybody looks at the clock."""


@dataclass(frozen=True, slots=True)
class RandomPlayConfig:
    """The variant of the game."""

    waits: bool = False
    """Whether a copy that cannot be in time may be waited for."""
    shifts: bool = False
    """Whether stays decided earlier may be shifted in fast memory to make room."""
    heuristics: str = ""
    """Strategies that may be followed, and ``relaxation``, as in
    ``msa+greedy+belady+relaxation``."""

    def __post_init__(self) -> None:
        names_in(self.heuristics)


class RandomPlay:
    """Plays random legal actions, each as likely as the others, and keeps the best map.

    To follow a heuristic is such an action, too. An iteration is one episode. One
    worker plays.
    """

    def __init__(self, config: RandomPlayConfig | None = None) -> None:
        self.config = config or RandomPlayConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play; the seed decides how."""
        given = self.config
        config = GameConfig(given.waits, given.shifts)

        def players(_: FastGame) -> Iterator[RandomPlayer]:
            return repeat(RandomPlayer(np.random.default_rng(run.seed)))

        return best_episode(problem, config, given.heuristics, run, players)


class RandomPlayer:
    """Takes random legal actions, and options where the game has any."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def advance(self, position: Position) -> Position:
        """Make some decisions."""
        if position.game.actions == len(Action):
            position.play_randomly(self._random, STEPS)
        else:
            legal = np.flatnonzero(position.mask())
            position.apply(int(self._random.choice(legal)))
        return position
