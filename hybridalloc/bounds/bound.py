"""What a lower bound is, and what comes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybridalloc.arrays import Floats
from hybridalloc.bounds.certificate import Certificate


@dataclass(frozen=True, slots=True)
class Prices:
    """What a little more of a resource would save.

    By the dual values of the linear relaxation before all cuts, so for a small change.
    """

    capacity: Floats
    """(T,): seconds for each byte more of fast memory during one instruction."""
    copy_bandwidth: float
    """Seconds for each byte a second more at which copies run."""

    @property
    def fast_memory(self) -> float:
        """Seconds for each byte more of fast memory."""
        return float(self.capacity.sum())


@dataclass(frozen=True, slots=True)
class Bound:
    """A time that no valid map beats."""

    seconds: float
    """Infinite if no valid map exists."""
    prices: Prices | None
    """``None`` if there was no time for them, or if no valid map exists."""
    served: Mapping[tuple[int, int], float]
    """Of the accesses, by instruction and buffer, which part fast memory serves in the
    relaxation's solution; those that are not here have none. A good map is often near
    it. Empty if there was no time for a solution."""
    certificate: Certificate
    """Its proof, which counts in units of ``unit_s`` seconds."""
    unit_s: float
    runtime: float
    """Seconds that it took."""
