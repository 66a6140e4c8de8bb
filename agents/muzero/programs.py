"""Programs that are ready to be played."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hybridalloc.bounds import lower_bound
from hybridalloc.game import Game, GameConfig
from hybridalloc.game.fast import FastGame
from hybridalloc.game.fixing import fixed
from hybridalloc.game.heuristics import consult
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

BOUND_S = 10.0
"""Seconds for the lower bound of a program, where none is given."""
BOUND_SHARE = 0.1
"""The share of the time of a search that the bound may take."""
LEAST_SHARE = 0.01
"""A return of 1 stands for this share of the time at least."""
ASKED = Run(iterations=1)
"""How heuristics are asked where a program is to be the same each time."""
EXTENDED = GameConfig(waits=True, shifts=True)
"""The game that the agent plays: the paper's actions, with both extensions."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A program, its game, and what a return of 1 stands for."""

    name: str
    problem: Problem
    game: FastGame
    bound_s: float
    """Seconds that no map beats."""

    @property
    def scale_s(self) -> float:
        """Seconds that a return of 1 stands for."""
        return scale_s(self.game, self.bound_s)

    def value(self, time_s: float) -> float:
        """How far a time is on the way from all in slow memory to the bound."""
        return (self.game.first.time_s - time_s) / self.scale_s


def scale_s(game: FastGame, bound_s: float) -> float:
    """The seconds that a return of 1 stands for: from all-slow to the bound; above 0.

    Args:
        game: Of the program.
        bound_s: Seconds that no map beats.
    """
    slow_s = game.first.time_s
    return max(slow_s - bound_s, LEAST_SHARE * slow_s) or 1.0


def bound_time_s(run: Run) -> float:
    """Seconds for the lower bound in a run of a strategy.

    None where its work is counted: how far they get would depend on the machine.
    """
    if run.iterations is not None:
        return 0.0
    return BOUND_S if math.isinf(run.deadline) else BOUND_SHARE * run.remaining_s


def prepare(
    problem: Problem, bound_s: float | None = None, heuristics: Sequence[str] = ()
) -> Entry:
    """Make a program ready to be played.

    Args:
        problem: The program, target and cost model.
        bound_s: A lower bound in seconds; by default one is looked for.
        heuristics: Those that may be followed; they are asked without a limit of time.

    Raises:
        ValueError: No place is found for what is pinned to fast memory.
    """
    if bound_s is None:
        bound_s = lower_bound(problem, time_limit=BOUND_S).seconds
    game = Game(problem, EXTENDED, fixed(problem))
    return entry_of(game.advised(consult(game, heuristics, (), ASKED)), bound_s)


def entry_of(game: Game, bound_s: float) -> Entry:
    """A program that is ready to be played.

    Args:
        game: Of the program.
        bound_s: Seconds that no map beats.
    """
    problem = game.problem
    return Entry(problem.program.name, problem, FastGame(game), bound_s)
