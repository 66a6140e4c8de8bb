"""What is earned in the game: the time that is saved, or the paper's proxy of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import compile_costs, elapsed
from hybridalloc.game.fast import Position
from hybridalloc.game.game import Game

Score = Callable[[Position], float]
"""What has been earned up to a position, in seconds: a decision's reward is by how much
that grows."""


class RewardKind(StrEnum):
    """The rewards."""

    TIME = "time"
    """The simulated time that is saved, stalls and all."""
    BENEFIT = "benefit"
    """What serving the access from fast memory saves by itself (``benefits``)."""


def score_of(kind: RewardKind, game: Game) -> Score:
    """What rewards of this kind add up to in a game."""
    if kind is RewardKind.TIME:
        return saved_s
    seconds = benefits(game)
    return lambda x: float(seconds[: x.step].sum(where=x.served))


def saved_s(position: Position) -> float:
    """The seconds of simulated time that are saved so far."""
    return position.game.first.time_s - position.time_s


def benefits(game: Game) -> Floats:
    """(steps,): seconds that each access saves in one run, alone in fast memory.

    All other accesses are served from slow memory, no copy takes time, and nothing has
    to make room. It is the proxy reward of the paper (arXiv 2305.07440, section 3).
    """
    problem, runs = game.problem, compile_costs(game.problem).runs
    slow_s = [elapsed(problem, t, ()) for t in range(len(problem.program))]
    saved = np.zeros(len(game.steps))
    for i, step in enumerate(game.steps):
        t = step.instruction
        saved[i] = runs[t] * (slow_s[t] - elapsed(problem, t, (step.buffer,)))
    return saved
