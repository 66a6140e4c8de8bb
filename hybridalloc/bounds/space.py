"""Fast memory in whole units of its alignment.

Every allocation starts at a multiple of the alignment, so no two touch one unit, and
one of ``size`` bytes takes ``ceil(size / alignment)`` units. A unit can be taken if its
first byte can: what starts within a unit cannot be an allocation, and what reaches
into it from before covers its first byte.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer
from hybridalloc.target import Target


def units(size: int, alignment: int) -> int:
    """The units that an allocation of so many bytes takes.

    >>> units(8192, 4096), units(8193, 4096)
    (2, 3)
    """
    return -(-size // alignment)


def free_units(problem: Problem) -> Ints:
    """(T,): the units that allocations may take during each instruction.

    Instructions that never run, in loops of no trips, have room for all buffers: copies
    cost nothing there, so what does not fit can leave and come back.
    """
    fast = problem.target.fast
    capacity, program = problem.target.capacity, problem.program
    scratch = np.array([x.scratch_bytes for x in program.instructions])
    free = np.empty(len(program), dtype=np.int64)
    for low in np.unique(scratch):
        taken = [(0, min(int(low), capacity)), *fast.reserved]
        free[scratch == low] = _free(taken, capacity, fast.alignment)
    everything = sum(units(buffer.size, fast.alignment) for buffer in program.buffers)
    free[np.array(program.multiplicity) == 0] = everything + 1
    return free


def has_place(buffer: Buffer, target: Target) -> bool:
    """Whether a buffer could be in empty fast memory, at its offset if that is fixed.

    >>> from hybridalloc.target import TARGETS
    >>> has_place(Buffer("b", 8, offset=4), TARGETS["tpu-v4i"])
    False
    """
    if buffer.offset is None:
        return buffer.size <= target.capacity
    low, high = buffer.offset, buffer.offset + buffer.size
    touched = any(low < end and start < high for start, end in target.fast.reserved)
    return low % target.fast.alignment == 0 and high <= target.capacity and not touched


def _free(taken: list[tuple[int, int]], capacity: int, alignment: int) -> int:
    """The units below the capacity whose first byte is in none of the ranges."""
    count, next_unit = 0, 0
    for low, high in sorted(taken):
        count += max(0, units(min(low, capacity), alignment) - next_unit)
        next_unit = max(next_unit, units(high, alignment))
    return count + max(0, units(capacity, alignment) - next_unit)
