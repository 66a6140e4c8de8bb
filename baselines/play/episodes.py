"""Episodes of the game, one after the other, and the best map of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol

from hybridalloc.game import Game, GameConfig
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.heuristics import consult, names_in
from hybridalloc.game.playback import playback
from hybridalloc.game.playing import Played, best_played
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run

EPISODES = 1000
"""Episodes where neither a deadline nor their number is given."""


class Player(Protocol):
    """Who plays."""

    def advance(self, position: Position) -> Position:
        """Decide at least once.

        Args:
            position: Not at its end; belongs to the player from now on.
        """
        ...


Players = Callable[[FastGame], Iterable[Player]]
"""Who plays one episode after the other."""


def best_episode(
    problem: Problem, config: GameConfig, heuristics: str, run: Run, players: Players
) -> Outcome:
    """Play until the run is over; an iteration is one episode.

    A warm start is played back first, and handed back if nothing is better.

    Args:
        problem: What to map.
        config: The variant of the game.
        heuristics: What may be followed, as ``names_in`` reads it.
        run: Limits, seed and warm start.
        players: Who plays.
    """

    def games(game: Game) -> Iterator[Played]:
        asked = consult(game, names_in(heuristics), (), run)
        return map(Played, _ends(FastGame(game.advised(asked)), run, players))

    return best_played(problem, config, run, games)


def _ends(game: FastGame, run: Run, players: Players) -> Iterator[Position]:
    """The ends of all episodes; one that the run leaves no time for is given up."""
    if run.warm_start is not None:
        yield playback(game, run.warm_start)
    limit = run.iterations
    if limit is None and run.deadline == math.inf:
        limit = EPISODES
    for player in islice(players(game), limit):
        position = game.begin()
        while not position.is_terminal:
            if run.expired:
                return
            position = player.advance(position)
        yield position
