"""A memory map as arrays: what search edits, and what the inner loops read."""

from __future__ import annotations

from typing import NamedTuple

from hybridalloc.arrays import Floats, Ints

PREFETCH, EVICTION = range(2)
"""The queues."""


class MapArrays(NamedTuple):
    """A memory map as arrays, for search: two tables, of allocations and of copies.

    They may be edited in place. Allocations stand in any order; copies of one queue
    that are issued at one point queue in the order in which they stand.
    """

    buffer: Ints
    """(allocations,) int64: the buffer."""
    ready: Ints
    """(allocations,) int64: the first instruction that it may serve."""
    end: Ints
    """(allocations,) int64: the first instruction after it."""
    copy_allocation: Ints
    """(copies,) int64: the allocation that it belongs to, as an index into these
    arrays."""
    copy_bytes: Floats
    """(copies,) float64: the buffer's size, or the slice's."""
    copy_queue: Ints
    """(copies,) int64: ``PREFETCH`` or ``EVICTION``."""
    copy_issue: Ints
    """(copies,) int64: point."""
    copy_due: Ints
    """(copies,) int64: point."""
