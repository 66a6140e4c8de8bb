"""The options of ``cpsat``."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.ranges import require_within


@dataclass(frozen=True, slots=True)
class CpSatOptions:
    """How the exact model is solved."""

    bound_share: float = 0.2
    """The share of the time that a lower bound of its own may take."""
    most_literals: int = 400_000
    """A model that would have more literals is not built."""

    def __post_init__(self) -> None:
        require_within("bound_share", self.bound_share, 0, 1)
        require_within("most_literals", self.most_literals, 0)
