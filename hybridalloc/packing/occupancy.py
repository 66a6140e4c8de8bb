"""How well a memory map fills the addresses that it uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.profile import live_profile
from hybridalloc.program import Program


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The fast memory that a map uses, and how much of it is in use at one time."""

    peak_bytes: int
    """The highest address that any allocation uses."""
    live_bytes: int
    """The most bytes that allocations hold at any one instruction; scratch and reserved
    ranges apart."""

    @property
    def fragmentation(self) -> float:
        """The part of the peak that is never in use at one time: 1 - live / peak.

        >>> Occupancy(peak_bytes=8, live_bytes=6).fragmentation
        0.25
        """
        return 1 - self.live_bytes / self.peak_bytes if self.peak_bytes else 0.0


def occupancy(program: Program, memory_map: MemoryMap) -> Occupancy:
    """What a map uses; the parts of a sliced prefetch count from their own issue.

    Args:
        program: What the map is for.
        memory_map: Every allocation has an offset.

    Raises:
        ValueError: An allocation has no offset.
    """
    parts = [
        (low, high, start, allocation.end)
        for allocation in memory_map.allocations
        for low, high, start in allocation.parts(
            program.buffers[allocation.buffer].size
        )
    ]
    low, high, start, end = np.array(parts, np.int64).reshape(-1, 4).T
    _, live = live_profile(high - low, start, end)
    return Occupancy(int(high.max(initial=0)), int(live.max(initial=0)))
