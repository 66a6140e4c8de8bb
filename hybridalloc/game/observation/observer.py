"""Observing positions of the fast game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybridalloc.game.action import Action
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.game import Game
from hybridalloc.game.observation.config import ObservationConfig
from hybridalloc.game.observation.foresight import foresee
from hybridalloc.game.observation.looking import observe
from hybridalloc.game.observation.tables import FACTS, FEATURES, PROFILES, SUPPLIES
from hybridalloc.incremental.directory import directory

THE_USUAL = ObservationConfig()
Shape = tuple[int, ...]


class Observation(NamedTuple):
    """What is to be seen of a position: without units, and within [-1, 1].

    The channels, columns and places are named in ``observation.tables``
    (docs/game.md, Observation).
    """

    profile: NDArray[np.float32]
    """(2, spans, rows): the share of each part of fast memory that is taken, and that
    live stays would need besides until their next access."""
    supply: NDArray[np.float32]
    """(6, spans): how much of the program each span of time is, its idle time, what
    copies use of that, and how many of them are outstanding."""
    tokens: NDArray[np.float32]
    """(tokens, 27 + 3 H): the coming accesses, the present one first, and the votes of
    H heuristics on each; 0 where the program has ended."""
    summary: NDArray[np.float32]
    """(14,): the position as a whole."""


class Shapes(NamedTuple):
    """The shapes of an observation's arrays."""

    profile: Shape
    supply: Shape
    tokens: Shape
    summary: Shape


def shapes(config: ObservationConfig = THE_USUAL) -> Shapes:
    """The shapes of observations, whatever the game."""
    return Shapes(
        profile=(PROFILES, config.spans, config.rows),
        supply=(SUPPLIES, config.spans),
        tokens=(config.tokens, config.features),
        summary=(FACTS,),
    )


class Observer:
    """Observes positions of one game.

    It works out what each action would do there, as ``Position.mask`` does. Like the
    positions it has room to work in: let one thread at a time use it.
    """

    def __init__(self, game: FastGame, config: ObservationConfig = THE_USUAL) -> None:
        """Prepare for a game.

        Args:
            game: Which.
            config: How finely it is observed.
        """
        self.game = game
        self.config = config
        self.shapes = shapes(config)
        self._view = foresee(game.game, config)
        self._votes = _votes(game.game, config)
        self.where = directory(self._view)

    def __reduce__(self) -> tuple[type[Observer], tuple[FastGame, ObservationConfig]]:
        """As ``copy.deepcopy`` and ``pickle`` take it: without addresses."""
        return Observer, (self.game, self.config)

    def observe(self, position: Position) -> Observation:
        """What is to be seen of a position, in new arrays."""
        made = Observation(*(np.empty(x, dtype=np.float32) for x in self.shapes))
        self._write(position, made)
        return made

    def observe_into(self, position: Position, observation: Observation) -> None:
        """Write what is to be seen of a position into given arrays.

        Args:
            position: Of the observer's game.
            observation: Its arrays are overwritten; they may be parts of larger ones.

        Raises:
            ValueError: An array is not of the shape in ``shapes``, of float32 and
                contiguous.
        """
        for name, array, shape in zip(
            Observation._fields, observation, self.shapes, strict=True
        ):
            is_plain = array.dtype == np.float32 and array.flags.c_contiguous
            if not (array.shape == shape and is_plain):
                raise ValueError(
                    f"{name}: expected contiguous float32 of shape {shape}, got "
                    f"{array.dtype} of shape {array.shape}"
                )
        self._write(position, observation)

    def _write(self, position: Position, observation: Observation) -> None:
        if position.game is not self.game:
            raise ValueError("the position is not of the game that is observed")
        constants = self.game.constants
        observe(*constants, position.where, self.where, *observation)
        coming = self._votes[position.step : position.step + self.config.tokens]
        observation.tokens[: len(coming), FEATURES:] = coming


def _votes(game: Game, config: ObservationConfig) -> NDArray[np.float32]:
    """(steps, 3 H): what each heuristic that is seen is for at each step."""
    votes = np.zeros((len(game.steps), len(config.heuristics), len(Action)), np.float32)
    for column, name in enumerate(config.heuristics):
        if name in game.advice.names:
            votes[:, column] = game.advice.votes[game.advice.names.index(name)]
    return votes.reshape(len(game.steps), len(Action) * len(config.heuristics))
