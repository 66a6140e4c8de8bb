"""Variations: games that decide anew on a part of the best game so far.

A game is long, and most of its decisions are as good as they will get. So most games
are the best one again but for a few steps in a row. The first of these is another than
it was, the others are left to the policy, at some temperature; then the game goes on as
the best one did, as far as that is legal. The network is asked at those few steps only,
and a game that has fallen behind the best one by then is given up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider
from hybridalloc.agents.muzero.model import Bools
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.action import INSTEAD, Action
from hybridalloc.game.fast import FastGame, Position

WHOLE = 1 / 64
"""The share of games that are decided from the first step to the last."""
WIDEST = 64
"""Steps that a variation decides on, at most: few are as likely as many, by their
logarithm."""
COOLEST, HOTTEST = 0.25, 4.0
"""The temperatures of games, likewise."""
SNAPSHOTS = 16
"""Positions of the best game that are kept, so that variations begin sooner."""
ROUNDING = 1e-9
"""By which share of it a sum of times may be too large."""
AT_A_TIME = 128
"""Steps that are followed before anybody asks whether the time is over, or whether it
is worth going on."""


@dataclass
class Variation:
    """A game that is decided anew at some steps, and elsewhere goes on as another."""

    position: Position
    """Where it is."""
    line: Ints
    """(steps,): the actions of the other game."""
    free: Bools
    """(steps,): which are decided anew."""
    pace: Floats
    """(steps,): what the program takes after each step of the other game."""
    temperature: float
    """Of the decisions."""

    @property
    def is_following(self) -> bool:
        """Whether the next step is as in the other game."""
        return not (self.position.is_terminal or self.free[self.position.step])

    @property
    def is_behind(self) -> bool:
        """Whether the other game is better up to here."""
        before_s = self.pace[self.position.step - 1]
        return bool(self.position.time_s > before_s * (1 + ROUNDING))

    def apply(self, action: int) -> None:
        """Take an action; the first is to be another one than in the other game."""
        step, legal = self.position.step, self.position.mask()
        is_first = step == self.free.argmax() and not self.free.all()
        if is_first and action == self.line[step]:
            others = (x for x in INSTEAD[action] if legal[x] and x != action)
            action = next(others, action)
        self.position.apply(action)

    def follow(self) -> None:
        """Take some of the steps that are as in the other game."""
        self.position.follow(self.line, self.free, AT_A_TIME)


class Variations:
    """The games of a program: whole ones, and variations of the best one so far."""

    def __init__(self, game: FastGame, random: np.random.Generator) -> None:
        """Begin without any.

        Args:
            game: Of the program; it has a step at least.
            random: Draws the games.
        """
        self._game, self._random = game, random
        steps = len(game.game.steps)
        self._line, self._pace = np.zeros(steps, np.int64), np.full(steps, math.inf)
        self._best_s, self._snapshots = math.inf, list[Position]()

    def offer(self, end: Position) -> bool:
        """Take note of a game that has ended: whether it is better than all before."""
        is_better = end.time_s < self._best_s
        if end.time_s <= self._best_s:
            self._best_s, self._line = end.time_s, end.line
            self._pace = self._game.begin().replay(self._line)
            self._snapshots = [self._game.begin()]
        return is_better

    def games(self) -> Iterator[Variation]:
        """Games, without end."""
        while True:
            heat = COOLEST * (HOTTEST / COOLEST) ** self._random.random()
            if not self._snapshots or self._random.random() < WHOLE:
                free, position = np.ones(self._steps, np.bool_), self._game.begin()
            else:
                free = self._free()
                position = self._position(int(free.argmax()))
            yield Variation(position, self._line, free, self._pace, heat)

    @property
    def _steps(self) -> int:
        return len(self._line)

    def _free(self) -> Bools:
        """(steps,): what a variation decides on."""
        steps = self._steps
        width = round(min(steps, WIDEST) ** self._random.random())
        first = int(self._random.integers(1 - width, steps))
        free = np.zeros(steps, np.bool_)
        free[max(0, first) : first + width] = True
        return free

    def _position(self, step: int) -> Position:
        """The position of the best game before a step."""
        known, line, steps = self._snapshots, self._line, self._steps
        while len(known) <= step * SNAPSHOTS // steps:
            later = known[-1].copy()
            later.replay(line[later.step : len(known) * steps // SNAPSHOTS])
            known.append(later)
        position = known[step * SNAPSHOTS // steps].copy()
        position.replay(line[position.step : step])
        return position


def eager(game: FastGame, is_over: Callable[[], bool]) -> Position:
    """The game that serves each access from fast memory if it may, as far as it got.

    Without a copy where it can, and in the order of the program: whoever comes first.

    Args:
        game: Of the program.
        is_over: Asked now and then; then it is given up.
    """
    steps = len(game.game.steps)
    line, free = np.full(steps, int(Action.NO_COPY)), np.zeros(steps, np.bool_)
    position = game.begin()
    while not (position.is_terminal or is_over()):
        position.follow(line, free, AT_A_TIME)
    return position


def ends(
    games: Iterator[Variation],
    side_by_side: int,
    decider: Decider,
    observing: Observing,
    is_over: Callable[[], bool],
) -> Iterator[Position]:
    """The ends of games that do not fall behind, each as soon as it has ended.

    Args:
        games: The next one begins when another has ended.
        side_by_side: Games that are played at a time.
        decider: Decides in all of them at once.
        observing: Of the sizes that the decider's network is for.
        is_over: Asked before each turn and in the course of it; then the games are
            given up.
    """
    playing: list[Variation] = []
    while not is_over():
        playing += islice(games, side_by_side - len(playing))
        if not playing:
            return
        positions = [x.position for x in playing]
        heat = np.array([x.temperature for x in playing])
        decision = decider.decide(positions, observing.observe(positions), heat)
        going_on = []
        for game, action in zip(playing, decision.actions.tolist(), strict=True):
            game.apply(action)
            while game.is_following:
                if is_over():
                    return
                game.follow()
                if game.is_behind:
                    break
            if game.position.is_terminal:
                yield game.position
            elif not game.is_following:
                going_on.append(game)
        playing = going_on
