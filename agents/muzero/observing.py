"""Observations of many positions at once, of one or several games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.observation import Observation, ObservationConfig, Observer
from hybridalloc.game.observation.observer import THE_USUAL, shapes

Singles = NDArray[np.float32]


class Observations(NamedTuple):
    """What is to be seen of B positions, as ``Observation`` has it of one."""

    profile: Singles
    """(B, 2, spans, rows)"""
    supply: Singles
    """(B, 6, spans)"""
    tokens: Singles
    """(B, tokens, 27 + 3 H)"""
    summary: Singles
    """(B, 14)"""

    @classmethod
    def empty(cls, count: int, config: ObservationConfig = THE_USUAL) -> Self:
        """Room for observations, with anything in it."""
        made = (np.empty((count, *x), dtype=np.float32) for x in shapes(config))
        return cls(*made)

    def first(self, count: int) -> Observations:
        """The first of them, in the same arrays."""
        return Observations(*(x[:count] for x in self))

    def one(self, index: int) -> Observation:
        """One of them, in the same arrays."""
        return Observation(*(x[index] for x in self))


class Observing:
    """Observes positions of any games; it keeps an observer for each that it has met.

    Like them, it has room to work in: let one thread at a time use it.
    """

    def __init__(self, config: ObservationConfig = THE_USUAL) -> None:
        """Prepare to observe.

        Args:
            config: How finely.
        """
        self.config = config
        self._observers: dict[FastGame, Observer] = {}

    def observe(self, positions: Sequence[Position]) -> Observations:
        """What is to be seen of positions, in new arrays."""
        made = Observations.empty(len(positions), self.config)
        self.observe_into(positions, made)
        return made

    def observe_into(
        self, positions: Sequence[Position], observations: Observations
    ) -> None:
        """Write what is to be seen of positions over the first of these observations.

        Args:
            positions: At most as many as there is room for.
            observations: They have the sizes of ``config``.
        """
        for index, position in enumerate(positions):
            observer = self._observer(position.game)
            observer.observe_into(position, observations.one(index))

    def _observer(self, game: FastGame) -> Observer:
        if game not in self._observers:
            self._observers[game] = Observer(game, self.config)
        return self._observers[game]
