"""How finely a position is observed."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.game.action import Action
from hybridalloc.game.observation.tables import FEATURES


@dataclass(frozen=True, slots=True)
class ObservationConfig:
    """The sizes of an observation."""

    past: int = 8
    """Spans of time before the present: a copy may have begun there."""
    future: int = 24
    """Spans of time from the present on."""
    rows: int = 32
    """Equal parts of the capacity of fast memory."""
    tokens: int = 16
    """Coming accesses, the present one first."""
    heuristics: tuple[str, ...] = ()
    """Whose votes on the coming accesses are seen; those of heuristics that a game has
    no advice of are 0."""

    def __post_init__(self) -> None:
        for name in ("past", "future", "rows", "tokens"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"observation: {name} {getattr(self, name)} is not at least 1"
                )
        object.__setattr__(self, "heuristics", tuple(self.heuristics))

    @property
    def spans(self) -> int:
        """Spans of time, before and after the present."""
        return self.past + self.future

    @property
    def features(self) -> int:
        """Of each coming access, with the votes of the heuristics on it."""
        return FEATURES + len(Action) * len(self.heuristics)
