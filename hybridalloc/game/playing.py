"""Games that a strategy plays one after the other, and the best map of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import NamedTuple

from hybridalloc.game.best import BestMap
from hybridalloc.game.config import GameConfig
from hybridalloc.game.fast import Position
from hybridalloc.game.fixing import fixed
from hybridalloc.game.game import Game
from hybridalloc.game.listing import listing_s
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED, Outcome, Run


class Played(NamedTuple):
    """A game that has ended."""

    end: Position
    follows: str | None = None
    """The heuristic that is followed all the way, if any: its map is that one's."""


def best_played(
    problem: Problem,
    config: GameConfig,
    run: Run,
    games: Callable[[Game], Iterable[Played]],
) -> Outcome:
    """Play until the run is over, or all games are played; the best map of all.

    A warm start counts, and is handed back if nothing is better.

    Args:
        problem: What to map.
        config: The variant of the game.
        run: Limits and warm start; it takes the reports.
        games: Plays one after the other to its end; is asked if there is time for
            any, and something to decide on.
    """
    try:
        pins = fixed(problem, run.deadline)
    except ValueError:
        return UNANSWERED if run.warm_start is None else Outcome(run.warm_start)
    best = BestMap(Simulator(problem), run, pins)
    if run.warm_start is not None:
        best.start_from(run.warm_start)
    if run.expired or listing_s(problem) >= run.remaining_s:
        return Outcome(best.map)
    game = Game(problem, config, pins)
    for end, follows in games(game) if game.steps else ():
        with nullcontext() if follows is None else run.credit(follows):
            best.offer(end)
        if run.is_met(best.seconds):
            break
    return Outcome(best.map)
