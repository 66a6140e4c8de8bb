"""The curriculum: short programs first, longer ones as these are mastered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridalloc.ranges import require_within


@dataclass(frozen=True, slots=True)
class CurriculumConfig:
    """How fast programs are admitted."""

    first: int = 4
    """Programs that are played from the beginning, the shortest ones."""
    more: int = 2
    """Programs that are admitted at a time."""
    mastered: float = 0.98
    """A program is mastered where a game reaches this share of the best that is known
    of it."""
    patience: int = 6
    """After so many games a program counts as mastered, whatever came of them."""
    games: int = 64
    """Games in an iteration, at most, played side by side."""
    decisions: int = 16_000
    """Decisions in an iteration, about; at least one game is played."""

    def __post_init__(self) -> None:
        for name in ("first", "more", "patience", "games", "decisions"):
            require_within(name, getattr(self, name), 1)
        require_within("mastered", self.mastered, 0, 1)


class Curriculum:
    """Knows which programs are played, and chooses among them."""

    def __init__(self, lengths: Sequence[int], config: CurriculumConfig) -> None:
        """Prepare.

        Args:
            lengths: Decisions in a game of each program.
            config: How fast programs are admitted.
        """
        self._lengths, self._config = lengths, config
        self._order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
        self._count = min(config.first, len(lengths))
        self._games = [0] * len(lengths)
        self._mastered = [False] * len(lengths)

    @property
    def admitted(self) -> list[int]:
        """The programs that are played."""
        return self._order[: self._count]

    def choose(self, random: np.random.Generator) -> list[int]:
        """The programs of an iteration's games."""
        return drawn(self.admitted, self._lengths, self._config, random)

    def note(self, index: int, earned: float, best: float) -> None:
        """Learn of a game.

        Args:
            index: The program.
            earned: The return of the game.
            best: The largest return that is known.
        """
        self._games[index] += 1
        if earned >= best - (1 - self._config.mastered) * abs(best):
            self._mastered[index] = True

    def admit(self) -> None:
        """Admit further programs, if all that are played are mastered."""
        patience = self._config.patience
        if all(self._mastered[i] or self._games[i] >= patience for i in self.admitted):
            self._count = min(self._count + self._config.more, len(self._order))

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes."""
        return {
            "count": self._count,
            "games": list(self._games),
            "mastered": list(self._mastered),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from where another curriculum was."""
        self._count = state["count"]
        self._games = list(state["games"])
        self._mastered = list(state["mastered"])


def drawn(
    admitted: Sequence[int],
    lengths: Sequence[int],
    config: CurriculumConfig,
    random: np.random.Generator,
) -> list[int]:
    """The programs of some games: each as often as the others, as far as possible.

    Args:
        admitted: Which programs may be played.
        lengths: Decisions in a game of each program.
        config: How many games, and decisions.
        random: What draws.
    """
    chosen: list[int] = []
    left = config.decisions
    while True:
        for index in random.permutation(admitted).tolist():
            is_enough = left < lengths[index] or len(chosen) == config.games
            if chosen and is_enough:
                return chosen
            chosen.append(index)
            left -= lengths[index]
