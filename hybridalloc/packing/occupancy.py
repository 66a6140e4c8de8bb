"""The fast memory that a map holds, and how well it fills the addresses it uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.memory_map import MemoryMap
from hybridalloc.program import Program


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The fast memory that a map uses, and how much of it is held at one time."""

    peak_bytes: int
    """The highest address that any allocation uses."""
    held_bytes: int
    """The most bytes that allocations hold at any one instruction; scratch and reserved
    ranges apart."""

    @property
    def fragmentation(self) -> float:
        """The part of the peak that is never held at one time: 1 - held / peak.

        >>> Occupancy(peak_bytes=8, held_bytes=6).fragmentation
        0.25
        """
        return 1 - self.held_bytes / self.peak_bytes if self.peak_bytes else 0.0


def occupancy(program: Program, memory_map: MemoryMap) -> Occupancy:
    """What a map uses; the parts of a sliced prefetch count from their own issue.

    Args:
        program: What the map is for.
        memory_map: Valid.

    Raises:
        ValueError: An allocation has no offset.
    """
    held = held_bytes(program, memory_map)
    return Occupancy(memory_map.peak_bytes(program), int(held.max()))


def held_bytes(program: Program, memory_map: MemoryMap) -> Ints:
    """The bytes that allocations hold, scratch and reserved ranges apart.

    Args:
        program: What the map is for.
        memory_map: Of buffers that the program has. The parts of a sliced prefetch
            count from their own issue; points after the program's end count as its end.

    Returns:
        (T,): bytes at each instruction.

    Raises:
        ValueError: An allocation has no offset.
    """
    rectangles = [
        rectangle
        for allocation in memory_map.allocations
        for rectangle in allocation.rectangles(program.buffers[allocation.buffer].size)
    ]
    low, high, start, end = np.array(rectangles, np.int64).reshape(-1, 4).T
    changes = np.zeros(len(program) + 1, np.int64)
    np.add.at(changes, np.minimum(start, len(program)), high - low)
    np.subtract.at(changes, np.minimum(end, len(program)), high - low)
    return np.cumsum(changes)[:-1]
