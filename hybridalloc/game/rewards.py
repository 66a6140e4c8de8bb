"""What a decision of the game earns: the time that it saves, or the paper's proxy."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import compile_costs, elapsed
from hybridalloc.game.action import Action
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.game import Game

Reward = Callable[[Position, Position, Action], float]
"""What an action earns: from the positions before and after it. In seconds."""


class RewardKind(StrEnum):
    """The rewards."""

    TIME = "time"
    """The simulated time that is saved, stalls and all."""
    BENEFIT = "benefit"
    """What serving the access from fast memory saves by itself (``Benefits``)."""


def reward_of(kind: RewardKind, game: FastGame) -> Reward:
    """The reward of this kind for a game."""
    return saved_s if kind is RewardKind.TIME else Benefits(game.game).reward


def saved_s(before: Position, after: Position, action: Action) -> float:
    """The seconds of simulated time that an action saves."""
    return before.time_s - after.time_s


class Benefits:
    """The proxy reward of the paper: the benefit of each access in fast memory.

    That is what serving it there saves by itself: all else is in slow memory, no copy
    takes time, and nothing has to make room. Source: arXiv 2305.07440.
    """

    def __init__(self, game: Game) -> None:
        self._steps = game.steps
        self.seconds = benefits(game)
        """(steps,): what each access saves in one run."""

    def total(self, position: Position) -> float:
        """The return: the benefits of all accesses in fast memory so far, seconds."""
        taken = np.array(position.taken, dtype=np.int64)
        return float(self.seconds[: position.step][taken != Action.DROP].sum())

    def reward(self, before: Position, after: Position, action: Action) -> float:
        """By how much the return grows; by less than nothing in most Drop-backups."""
        if self._may_be_backed_up(before.step, after.step):
            return self.total(after) - self.total(before)
        return 0.0 if action == Action.DROP else float(self.seconds[before.step])

    def _may_be_backed_up(self, step: int, then: int) -> bool:
        """Whether something else may have been done than was decided at a step."""
        if then <= step or then == len(self._steps):
            return True
        return self._steps[then].buffer == self._steps[step].buffer


def benefits(game: Game) -> Floats:
    """(steps,): seconds saved by serving each access alone from fast memory.

    All other accesses are served from slow memory, and no copy is waited for
    (Optimizing Memory Mapping, section 3: the proxy of the reward).
    """
    problem, runs = game.problem, compile_costs(game.problem).runs
    slow_s = [elapsed(problem, t, ()) for t in range(len(problem.program))]
    saved = np.zeros(len(game.steps))
    for i, step in enumerate(game.steps):
        t = step.instruction
        saved[i] = runs[t] * (slow_s[t] - elapsed(problem, t, (step.buffer,)))
    return saved
