"""The options of ``windows``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hybridalloc.ranges import require_within


class Propose(StrEnum):
    """What says where a window is worth solving."""

    LOSS = "loss"
    """The time that is lost to slow memory."""
    RELAXATION = "relaxation"
    """That, and where the linear relaxation's solution differs from the map."""


@dataclass(frozen=True, slots=True)
class WindowsConfig:
    """How large windows are, and how long each may take."""

    buffers: int = 8
    """How many buffers may change in the first window; later ones are larger or
    smaller as it turns out."""
    narrowest: float = 1.0
    """The least instructions of a window for each such buffer."""
    widest: float = 4.0
    """The most instructions of a window for each such buffer."""
    most_instructions: int = 300
    """A window that loops widen to more instructions is too large."""
    randomness: float = 1.0
    """How much chance has a say in which buffers may change; 0: the largest do."""
    window_s: float = 2.0
    """The most seconds for each window; under a limit on iterations, of work as CP-SAT
    counts it."""
    most_literals: int = 4_000
    """A window whose model has more literals for copies is too large."""
    propose: Propose = Propose.LOSS
    """What says where a window is worth solving: `loss` or `relaxation`."""

    def __post_init__(self) -> None:
        require_within("buffers", self.buffers, 1)
        require_within("narrowest", self.narrowest, 0)
        require_within("widest", self.widest, self.narrowest, 1e6)
        require_within("most_instructions", self.most_instructions, 1)
        require_within("randomness", self.randomness, 0)
        require_within("window_s", self.window_s, 0)
        require_within("most_literals", self.most_literals, 0)
        object.__setattr__(self, "propose", Propose(self.propose))
