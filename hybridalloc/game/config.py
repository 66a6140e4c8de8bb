"""What a game allows beyond the paper's three actions."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.game.action import Action


@dataclass(frozen=True, slots=True)
class GameConfig:
    """The variant of the game that is played."""

    waits: bool = False
    """Whether a copy may be waited for where it cannot be in time."""
    sides: bool = False
    """Whether a new stay may also be placed at the high end of the highest gap."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Those that there are."""
        return tuple(Action)[: 5 if self.sides else 3]
