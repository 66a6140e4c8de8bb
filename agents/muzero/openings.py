"""Openings: games that need no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.game.action import Action
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.playing import Played

AT_A_TIME = 128
"""Steps that are followed before anybody asks whether the time is over, or whether it
is worth going on."""


def openings(game: FastGame, is_over: Callable[[], bool]) -> Iterator[Played]:
    """Games that need no network.

    The eager game, and for each heuristic the one that follows it all the time.

    Args:
        game: Of the program.
        is_over: Asked now and then; then they are given up.
    """
    advice = game.game.advice  # without lines if nobody may be followed
    each = zip(advice.names, advice.followed, strict=False)
    followed = (Played(_followed(game, x, is_over), name) for name, x in each)
    for played in chain([Played(eager(game, is_over))], followed):
        if played.end.is_terminal:
            yield played


def eager(game: FastGame, is_over: Callable[[], bool]) -> Position:
    """The game that serves each access from fast memory if it may, as far as it got.

    Without a copy where it can, and in the order of the program: whoever comes first.

    Args:
        game: Of the program.
        is_over: Asked now and then; then it is given up.
    """
    line = np.full(len(game.game.steps), int(Action.NO_COPY))
    return _followed(game, line, is_over)


def _followed(game: FastGame, line: Ints, is_over: Callable[[], bool]) -> Position:
    """The game that a line amounts to, as far as it got."""
    free, position = np.zeros(line.size, np.bool_), game.begin()
    while not (position.is_terminal or is_over()):
        position.follow(line, free, AT_A_TIME)
    return position
