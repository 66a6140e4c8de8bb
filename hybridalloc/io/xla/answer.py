"""XLA's own memory map, rebuilt from what it wrote after Memory Space Assignment.

``allocinfo`` tells where and when a buffer is in fast memory; the module after MSA
tells when copies are issued and awaited (``copies``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hybridalloc.io.xla.copies import AfterMsa, Copy
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.program import Program


@dataclass(frozen=True, slots=True)
class AllocationRow:
    """A row of ``allocinfo``; times are inclusive."""

    buffer: int | None
    """Index into ``Program.buffers``; ``None`` where ``bufferinfo`` lacks its id, as
    it does for a cross-program prefetch."""
    size: int
    offset: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Stay:
    """Rows that touch at one offset and the prefetch that they begin with, if any."""

    row: AllocationRow
    prefetch: Copy | None


def compiler_map(
    program: Program, after: AfterMsa, rows: Sequence[AllocationRow]
) -> MemoryMap:
    """The map that XLA's ``allocinfo`` and its module after MSA describe.

    Raises:
        ValueError: The two do not describe a map of this program.
    """
    copies = list(after.copies())
    prefetches, evictions = _by_buffer(copies)
    rows_of: dict[int, list[AllocationRow]] = defaultdict(list)
    for row in _assigned(program, rows, copies):
        assert row.buffer is not None
        rows_of[row.buffer].append(row)
    placed: list[tuple[int, Allocation]] = []
    for buffer, its_rows in rows_of.items():
        stays = _stays(sorted(its_rows, key=lambda r: r.start), prefetches[buffer])
        its = [_allocation(program, stay) for stay in stays]
        placed += _with_evictions(program, its, evictions[buffer])
    placed.sort(key=lambda pair: pair[0])
    return MemoryMap(tuple(allocation for _, allocation in placed))


def _by_buffer(
    copies: Sequence[Copy],
) -> tuple[dict[int, list[Copy]], dict[int, list[Copy]]]:
    prefetches: dict[int, list[Copy]] = defaultdict(list)
    evictions: dict[int, list[Copy]] = defaultdict(list)
    for copy in copies:
        (prefetches if copy.to_fast else evictions)[copy.buffer].append(copy)
    return prefetches, evictions


def _assigned(
    program: Program, rows: Sequence[AllocationRow], copies: Sequence[Copy]
) -> Iterator[AllocationRow]:
    """The rows, each with the buffer of the program that it is for.

    A row that bufferinfo does not know is that of the cross-program prefetch. A row
    for a part of a buffer is that of a slice instruction which became a copy.
    """
    crossing = {copy.buffer for copy in copies if copy.cross_program}
    replacing = [copy for copy in copies if copy.replaced is not None]
    for row in rows:
        if row.buffer is None:
            if len(crossing) != 1:
                raise ValueError(
                    f"allocinfo names a buffer that bufferinfo lacks; expected one "
                    f"cross-program prefetch to take it for, got {len(crossing)}"
                )
            row = replace(row, buffer=next(iter(crossing)))
        replacement = next((c for c in replacing if _replaces(row, c)), None)
        if replacement is not None:
            row = replace(row, buffer=replacement.buffer)
        elif row.buffer is not None and row.size != program.buffers[row.buffer].size:
            raise ValueError(
                f"allocinfo gives buffer {program.buffers[row.buffer].name} "
                f"{row.size} bytes, expected {program.buffers[row.buffer].size}"
            )
        yield row


def _replaces(row: AllocationRow, copy: Copy) -> bool:
    return row.buffer in (copy.buffer, copy.source) and _awaited_in(row, copy)


def _awaited_in(row: AllocationRow, copy: Copy) -> bool:
    return row.start <= copy.due and copy.earliest_due <= row.end


def _stays(rows: list[AllocationRow], prefetches: list[Copy]) -> Iterator[_Stay]:
    """Merge the rows of one buffer that touch, unless the later begins with a copy."""
    copy_of: dict[int, Copy] = {}
    for prefetch in prefetches:
        fitting = [i for i, row in enumerate(rows) if _awaited_in(row, prefetch)]
        if not fitting:
            raise ValueError(
                f"the prefetch due at instruction {prefetch.due} matches no row of "
                f"allocinfo"
            )
        begun = [i for i in fitting if rows[i].start <= prefetch.issue]
        copy_of[begun[-1] if begun else fitting[0]] = prefetch
    open_stay: _Stay | None = None
    for position, row in enumerate(rows):
        copy = copy_of.get(position)
        if open_stay is not None and copy is None and _touch(open_stay.row, row):
            merged = replace(open_stay.row, end=max(open_stay.row.end, row.end))
            open_stay = replace(open_stay, row=merged)
            continue
        if open_stay is not None:
            yield open_stay
        open_stay = _Stay(row, copy)
    if open_stay is not None:
        yield open_stay


def _touch(row: AllocationRow, later: AllocationRow) -> bool:
    return row.offset == later.offset and later.start <= row.end + 1


def _allocation(program: Program, stay: _Stay) -> tuple[int, Allocation]:
    """A stay as an allocation, with the place of its copy in the queue."""
    row, copy = stay.row, stay.prefetch
    assert row.buffer is not None
    end, last = min(row.end + 1, len(program)), len(program)
    allocation = Allocation(row.buffer, row.offset, row.start, end)
    if copy is None:
        return row.start, allocation
    if copy.cross_program:
        return copy.position, replace(
            allocation, start=0, ready=0, origin=Origin.CROSS_PROGRAM
        )
    if copy.due == last:
        return copy.position, replace(
            allocation, start=copy.issue, ready=last, origin=Origin.CROSS_PROGRAM
        )
    if copy.replaced is not None and copy.issue <= copy.replaced:
        return copy.position, replace(allocation, start=copy.replaced, ready=-1)
    return copy.position, replace(
        allocation,
        start=copy.issue,
        ready=min(copy.due, end),
        slices=copy.slices,
        origin=Origin.PREFETCHED,
    )


def _with_evictions(
    program: Program, placed: list[tuple[int, Allocation]], evictions: list[Copy]
) -> list[tuple[int, Allocation]]:
    """Give each eviction to the allocation that it is issued in."""
    for copy in evictions:
        index = next(
            (
                i
                for i, (_, allocation) in enumerate(placed)
                if allocation.start < copy.issue <= allocation.end
            ),
            None,
        )
        if index is None:
            raise ValueError(
                f"the eviction of {program.buffers[copy.buffer].name} at instruction "
                f"{copy.issue} matches no row of allocinfo"
            )
        position, allocation = placed[index]
        eviction = Eviction(copy.issue, max(copy.issue, min(copy.due, allocation.end)))
        if allocation.origin is Origin.PRODUCED:
            position = copy.position
        placed[index] = position, replace(allocation, eviction=eviction)
    return placed
