"""The best game of a program: openings, and then variations, until the run is over."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.openings import openings
from hybridalloc.agents.muzero.programs import EXTENDED
from hybridalloc.agents.muzero.threads import threads
from hybridalloc.agents.muzero.variations import Variations, ends
from hybridalloc.game import Game
from hybridalloc.game.fast import FastGame
from hybridalloc.game.playback import playback
from hybridalloc.game.playing import Played, best_played
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run

EPISODES = 256
"""Games where neither a deadline nor their number is given."""


@dataclass(frozen=True, slots=True)
class Team:
    """A game, and who plays it."""

    game: Game
    """With the heuristics that may be followed."""
    network: Network
    """It knows these heuristics and no others."""
    decider: Decider
    """Decides by what the network says."""


def draws(seed: int) -> np.random.Generator:
    """What a decider draws from: apart from what the variations are drawn from."""
    return np.random.default_rng([seed, 1])


def best_game(
    problem: Problem, run: Run, batch: int, team_of: Callable[[Game], Team]
) -> Outcome:
    """Play until the run is over, or its games are played; the best map of all.

    Args:
        problem: What is played.
        run: An iteration is one game, the openings apart.
        batch: Games side by side.
        team_of: Asks heuristics about a game, if it will, and says who plays.
    """

    def games(game: Game) -> Iterator[Played]:
        return _played(team_of(game), run, batch)

    return best_played(problem, EXTENDED, run, games)


def _played(team: Team, run: Run, batch: int) -> Iterator[Played]:
    """Games, of which the best is varied."""
    game = FastGame(team.game)
    variations = Variations(game, np.random.default_rng(run.seed))
    for played in _each(game, variations, run, batch, team):
        yield played
        variations.offer(played.end)


def _each(
    game: FastGame, variations: Variations, run: Run, batch: int, team: Team
) -> Iterator[Played]:
    """Those that need no network, and then others."""
    if run.warm_start is not None:
        yield Played(playback(game, run.warm_start))
    yield from openings(game, lambda: run.expired)
    most = run.iterations
    if most is None and run.deadline == math.inf:
        most = EPISODES
    games = islice(variations.games(), most)
    observing = Observing(team.network.config.observation)
    with threads(run.workers):
        for end in ends(games, batch, team.decider, observing, lambda: run.expired):
            yield Played(end)
