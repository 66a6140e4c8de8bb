"""Variations: games that decide anew on a part of the best game so far.

A game is long, and most of its decisions are as good as they will get. So most games
are the best one again but for a few steps in a row. The first of these is another than
it was, the others are left to the policy, at some temperature; then the game goes on as
the best one did, as far as that is legal. The network is asked at those few steps only,
and a game that has fallen behind the best one by then is given up.

Some decisions are good only together: a large buffer needs many others to be elsewhere.
So in a part of the games a buffer is favoured for a while, without asking the network:
what is large is dropped, and the buffer is in fast memory wherever that is legal. In
another part, a heuristic is followed for a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider
from hybridalloc.agents.muzero.model import Bools
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.openings import AT_A_TIME
from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.action import INSTEAD, Action
from hybridalloc.game.fast import FastGame, Position

WHOLE = 1 / 64
"""The share of games that are decided from the first step to the last."""
FAVOURED = 1 / 4
"""The share of variations that favour a buffer."""
FOLLOWED = 1 / 4
"""The share of those that follow a heuristic, where there is one."""
SMALLEST = 2.0**-10
"""The least part of its size from which on others give way to it."""
WIDEST = 64
"""Steps that a variation decides on, at most: few are as likely as many, by their
logarithm. A buffer that is favoured has others give way as many steps before, for its
copy."""
COOLEST, HOTTEST = 0.25, 4.0
"""The temperatures of games, likewise."""
SNAPSHOTS = 16
"""Positions of the best game that are kept, so that variations begin sooner."""
ROUNDING = 1e-9
"""By which share of it a sum of times may be too large."""


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
    until: int
    """The first step from which on it only goes on as the other."""
    temperature: float
    """Of the decisions."""

    @property
    def is_following(self) -> bool:
        """Whether the next step is as in the other game."""
        return not (self.position.is_terminal or self.free[self.position.step])

    @property
    def is_behind(self) -> bool:
        """Whether it only goes on as the other, which is better up to here."""
        step = self.position.step
        before_s = self.pace[step - 1] * (1 + ROUNDING)
        return bool(step >= self.until and self.position.time_s > before_s)

    def apply(self, action: int) -> None:
        """Take an action; the first is to be another one than in the other game.

        To follow a heuristic for one access is what that would do.
        """
        step, advice = self.position.step, self.position.game.game.advice
        is_first = step == self.free.argmax() and not self.free.all()
        option = advice.option_of(action)
        if option is not None and not option.until_next:
            action = int(advice.lines[option.heuristic, step])
        if is_first and action == self.line[step]:
            legal = self.position.mask()
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
        self._advised = game.game.advice.followed
        steps = len(game.game.steps)
        sizes = [x.size for x in game.game.problem.program.buffers]
        self._buffers = np.array([x.buffer for x in game.game.steps])
        self._times = np.array([x.instruction for x in game.game.steps])
        self._sizes = np.array(sizes, np.float64)[self._buffers]
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
            if not self._snapshots or self._random.random() < WHOLE:
                yield self._whole()
            elif self._random.random() < FAVOURED and (self._line == Action.DROP).any():
                yield self._favoured()
            elif self._advised.size and self._random.random() < FOLLOWED:
                yield self._followed()
            else:
                yield self._redecided()

    def _whole(self) -> Variation:
        """A game of which all is decided anew."""
        free, position = np.ones(self._steps, np.bool_), self._game.begin()
        heat, until = self._heat(), self._steps
        return Variation(position, self._line, free, self._pace, until, heat)

    def _redecided(self) -> Variation:
        """A game of which some steps in a row are decided anew."""
        free = self._free()
        position, until = self._position(int(free.argmax())), int(free.sum())
        until += position.step
        return Variation(position, self._line, free, self._pace, until, self._heat())

    def _favoured(self) -> Variation:
        """A game in which a buffer that was dropped is in fast memory for a while.

        Whatever is larger than some part of it is dropped meanwhile.
        """
        dropped = np.flatnonzero(self._line == Action.DROP)
        step = int(self._random.choice(dropped))
        mine = np.flatnonzero(self._buffers == self._buffers[step])
        rank = int(np.searchsorted(mine, step))
        served = mine[rank : rank + round(len(mine) ** self._random.random())]
        lead = round(WIDEST ** self._random.random()) - 1
        first = np.searchsorted(self._times, self._times[served[0]])
        end = np.searchsorted(self._times, self._times[served[-1]], side="right")
        meanwhile = slice(max(0, int(first) - lead), int(end))
        line, free = self._line.copy(), np.zeros(self._steps, np.bool_)
        least = self._sizes[step] * SMALLEST ** self._random.random()
        line[meanwhile][self._sizes[meanwhile] >= least] = Action.DROP
        line[served] = Action.NO_COPY
        position = self._position(meanwhile.start)
        return Variation(position, line, free, self._pace, meanwhile.stop, 0.0)

    def _followed(self) -> Variation:
        """A game in which a heuristic is followed for some steps in a row."""
        steps, random = self._steps, self._random
        width = round(steps ** random.random())
        first = max(0, int(random.integers(1 - width, steps)))
        meanwhile = slice(first, first + width)
        line, whom = self._line.copy(), int(random.integers(len(self._advised)))
        line[meanwhile] = self._advised[whom, meanwhile]
        free, position = np.zeros(steps, np.bool_), self._position(first)
        return Variation(position, line, free, self._pace, meanwhile.stop, 0.0)

    def _heat(self) -> float:
        heat: float = COOLEST * (HOTTEST / COOLEST) ** self._random.random()
        return heat

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
        while len(playing) < side_by_side and (game := next(games, None)):
            if end := _end(game, playing, is_over):
                yield end
            if is_over():
                return
        if not playing:
            return
        positions = [x.position for x in playing]
        heat = np.array([x.temperature for x in playing])
        decision = decider.decide(positions, observing.observe(positions), heat)
        decided, playing = playing, []
        for game, action in zip(decided, decision.actions.tolist(), strict=True):
            if is_over():
                return
            game.apply(action)
            if end := _end(game, playing, is_over):
                yield end


def _end(
    game: Variation, playing: list[Variation], is_over: Callable[[], bool]
) -> Position | None:
    """Follow as far as that goes: the end, if it is reached and not given up before.

    Args:
        game: Which.
        playing: Takes the game if the next step is to be decided.
        is_over: Asked now and then; then the game is given up.
    """
    while game.is_following and not is_over():
        game.follow()
        if game.is_behind:
            break
    if game.position.is_terminal:
        return game.position
    if not game.is_following:
        playing.append(game)
    return None
