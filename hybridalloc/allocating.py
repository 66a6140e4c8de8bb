"""The allocations of stays, and their order in a map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybridalloc.memory_map import Allocation, Eviction, Origin, Slice
from hybridalloc.packing.space import Span
from hybridalloc.stays import Stay


def allocate(
    stay: Stay,
    offset: int | None,
    span: Span,
    *,
    slices: tuple[Slice, ...] = (),
    eviction: Eviction | None = None,
) -> Allocation:
    """The allocation of a stay, from the issue of its copies to their end.

    Args:
        stay: Which accesses it serves.
        offset: Bytes; ``None`` if still to be found.
        span: When it needs its place.
        slices: Those of its prefetch.
        eviction: Its copy back, if it needs one.
    """
    return Allocation(
        stay.buffer,
        offset,
        *span,
        Origin.PRODUCED if stay.produced else Origin.PREFETCHED,
        ready=stay.start,
        slices=slices,
        eviction=eviction,
    )


def allocate_cross_program(
    stay: Stay, offset: int | None, spans: Sequence[Span]
) -> tuple[Allocation, ...]:
    """The allocations of a cross-program prefetch.

    Args:
        stay: Which accesses it serves; from point 0.
        offset: Bytes.
        spans: The whole run; or a head and a tail, at whose end the copy is due.
    """
    return tuple(
        Allocation(
            stay.buffer,
            offset,
            start,
            end,
            Origin.CROSS_PROGRAM,
            ready=end if start else 0,
        )
        for start, end in spans
    )


def head_and_tail(head: int, tail: int, last: int) -> list[Span]:
    """When a cross-program prefetch needs its place, given when it could do without.

    Args:
        head: When it is no longer used.
        tail: When it is copied for the next run, or -1 if it cannot be.
        last: The end of the program.
    """
    return [(0, head), (tail, last)] if head < tail < last else [(0, last)]


def queue_key(x: Allocation) -> tuple[int, int, int, int]:
    """What to order allocations by in a map: at one start, by when copies are due.

    Slices and evictions that are issued later queue in this order too.
    """
    return x.start, x.ready, x.end, x.buffer


def in_queue_order(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """In the order of a map: what is due first is issued first."""
    return tuple(sorted(allocations, key=queue_key))
