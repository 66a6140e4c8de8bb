"""The answer to a static problem."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.solver import Result
from hybridalloc.static.load import Peak
from hybridalloc.static.proofs import StaticInfeasibility


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticResult(Result):
    """Offsets that have passed the checker, and what is known about them.

    Its ``status`` is of the capacity: ``OPTIMAL`` if no placement needs less, proven;
    ``INFEASIBLE`` if none fits, proven; ``UNKNOWN`` if neither offsets nor a proof was
    found in time. There is no map, and no time to simulate.
    """

    infeasibility: StaticInfeasibility | None = None
    offsets: tuple[int, ...] | None
    """For each buffer, in bytes."""
    capacity: int | None
    """Bytes that were given, if any."""
    bound_bytes: int
    """A capacity that no placement goes below."""
    load: Peak
    """When the most bytes are live, and which buffers these are."""
    found_by: str = ""
    """The component that found the offsets, or the proof."""

    @property
    def peak_bytes(self) -> int | None:
        """The capacity reached: the highest byte that a buffer takes, + 1."""
        return None if self.metrics is None else self.metrics.peak_bytes

    @property
    def ratio(self) -> float | None:
        """The capacity reached over the most bytes that are live at a time."""
        if self.peak_bytes is None:
            return None
        return self.peak_bytes / self.load.bytes if self.load.bytes else 1.0
