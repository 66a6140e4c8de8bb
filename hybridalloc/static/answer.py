"""The answer to a static problem."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.solver import Status
from hybridalloc.static.load import Peak
from hybridalloc.static.proofs import StaticInfeasibility


@dataclass(frozen=True, slots=True)
class StaticAnswer:
    """Offsets that have passed the checker, and what is known about them."""

    strategy: str
    seed: int
    status: Status
    """``OPTIMAL``: no placement needs less capacity, proven. ``INFEASIBLE``: none fits
    the capacity, proven. ``UNKNOWN``: neither offsets nor a proof was found in time."""
    offsets: tuple[int, ...] | None
    """For each buffer, in bytes."""
    capacity: int | None
    """Bytes that were given, if any."""
    peak_bytes: int | None
    """The capacity reached: the highest byte that a buffer takes, + 1."""
    bound_bytes: int
    """A capacity that no placement goes below."""
    load: Peak
    """When the most bytes are live, and which buffers these are."""
    runtime: float
    """Seconds that the search took."""
    found_by: str = ""
    """The component that found the offsets, or the proof."""
    infeasibility: StaticInfeasibility | None = None

    @property
    def ratio(self) -> float | None:
        """The capacity reached over the most bytes that are live at a time."""
        if self.peak_bytes is None:
            return None
        return self.peak_bytes / self.load.bytes if self.load.bytes else 1.0
