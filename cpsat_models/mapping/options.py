"""The options of ``cpsat``."""

from __future__ import annotations

from dataclasses import dataclass, fields

from hybridalloc.ranges import require_within


@dataclass(frozen=True, slots=True)
class CpSatOptions:
    """How the exact model is solved: each share is of the time that is left then."""

    bound_share: float = 0.1
    """For a lower bound that holds for sliced prefetches too."""
    proof_share: float = 0.3
    """For a bound of the model, from its linear part."""
    guide_share: float = 0.6
    """For good maps, from the linear part."""
    most_literals: int = 40_000
    """A model with more literals for copies is not built."""

    def __post_init__(self) -> None:
        for field in fields(self)[:3]:
            require_within(field.name, getattr(self, field.name), 0, 1)
        require_within("most_literals", self.most_literals, 0)
