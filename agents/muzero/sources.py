"""Where games to learn from come from, and when training ends."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from hybridalloc.agents.muzero.play import play
from hybridalloc.agents.muzero.players import Hurried
from hybridalloc.agents.muzero.trajectory import Trajectory

if TYPE_CHECKING:
    from hybridalloc.agents.muzero.training import Training


class Purpose(IntEnum):
    """What chance is for."""

    PLAY = 0
    RENEW = 1
    LEARN = 2
    ACT = 3
    VARY = 4


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Limit:
    """When training ends."""

    steps: int | None = None
    """Steps of learning, in all sittings."""
    deadline: float = math.inf
    """In seconds of ``time.monotonic()``."""
    is_cut: Callable[[], bool] = _never
    """Whether somebody else wants it to end."""

    @property
    def expired(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self.deadline or self.is_cut()


class Source(Protocol):
    """Where games come from."""

    def games(
        self, training: Training, is_over: Callable[[], bool]
    ) -> list[Trajectory]:
        """The games of the present iteration.

        Raises:
            TimeoutError: The time is over before there are any.
        """
        ...

    def saved(self, training: Training) -> None:
        """Learn that training has been saved."""
        ...


class SelfPlay:
    """Plays in this process: for the same seed, always the same games."""

    def games(
        self, training: Training, is_over: Callable[[], bool]
    ) -> list[Trajectory]:
        """Play the games that the curriculum chooses."""
        random = training.random(Purpose.PLAY, training.progress.iteration)
        indices = training.curriculum.choose(random)
        players = training.players
        decider = Hurried(players.explorer(random), is_over)
        config = training.run.config
        return play(
            training.run.entries,
            indices,
            decider,
            players.observing,
            temperature=config.temperature,
        )

    def saved(self, training: Training) -> None:
        """Nothing has to be done."""
