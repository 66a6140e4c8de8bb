"""What a game allows beyond the paper's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GameConfig:
    """The variant of the game that is played: by default, the paper's."""

    waits: bool = False
    """Whether a copy that cannot be in time may be waited for, where that takes less
    than may be saved by it."""
    shifts: bool = False
    """Whether stays decided earlier may be shifted in fast memory to make room."""
