"""The offsets that a buffer may have, were it alone in fast memory."""

from __future__ import annotations

from ortools.sat.python import cp_model

from hybridalloc.target import MemorySpace


def offsets_alone(
    space: MemorySpace, size: int, fixed: int | None, scratch: int
) -> cp_model.Domain:
    """Where a buffer clears all but other buffers, in multiples of the alignment.

    Args:
        space: Fast memory.
        size: Bytes of the buffer.
        fixed: Its only offset, if it has one.
        scratch: Bytes from offset 0 that are taken; nothing if the buffer has no size.
    """
    unit, capacity = space.alignment, space.capacity or 0
    low, high = -(-scratch // unit) if size else 0, (capacity - size) // unit
    if fixed is not None:
        if fixed % unit:
            return cp_model.Domain.from_values([])
        low, high = max(low, fixed // unit), min(high, fixed // unit)
    if low > high:
        return cp_model.Domain.from_values([])
    free = cp_model.Domain(low, high)
    for start, end in space.reserved if size else ():
        first, last = (start - size) // unit + 1, -(-end // unit) - 1
        if first <= last:
            free = free.intersection_with(cp_model.Domain(first, last).complement())
    return free
