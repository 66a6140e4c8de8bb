"""The options of ``lp``."""

from __future__ import annotations

from dataclasses import dataclass, field

from hybridalloc.baselines.moves import Weights
from hybridalloc.ranges import require_within


@dataclass(frozen=True, slots=True)
class LpConfig:
    """How the relaxation is solved, and how its solutions become maps."""

    root_share: float = 0.6
    """The share of the time left that may pass until the relaxation is solved."""
    bound_share: float = 0.2
    """The share of the time that is kept for a better bound, when maps are made."""
    maps: int = 12
    """How many are made at most, each of a dive of its own."""
    repairs: int = 4
    """After so many maps at most, what was missing in them is allowed again."""
    batch: float = 0.25
    """The share of what is undecided in a solution that is decided at a time."""
    noise: float = 0.15
    """The standard deviation of what is added to values before the largest are decided;
    none in the first ones."""
    weights: Weights = field(default_factory=lambda: Weights(0.5, 0.5, 16.0))
    """What stays are taken to cost where one of several is chosen."""
    displacements: int = 300
    """For how many of the stays that are left out to make room."""
    cross_programs: int = 20
    """How many cross-program prefetches to try."""

    def __post_init__(self) -> None:
        require_within("root_share", self.root_share, 0, 1)
        require_within("bound_share", self.bound_share, 0, 1)
        require_within("maps", self.maps, 0)
        require_within("repairs", self.repairs, 1)
        require_within("batch", self.batch, 0.01, 1)
        require_within("noise", self.noise, 0, 1)
        require_within("displacements", self.displacements, 0)
        require_within("cross_programs", self.cross_programs, 0)
