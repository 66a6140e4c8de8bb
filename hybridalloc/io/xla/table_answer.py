"""XLA's own memory map from ``allocinfo`` alone, as far as that can be told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hybridalloc.io.tables import integer, read_table
from hybridalloc.io.xla.roles import Role
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.program import Program
from hybridalloc.target import Target


@dataclass(frozen=True, slots=True)
class _Stay:
    """Rows of one buffer that touch at one offset; the end is exclusive."""

    offset: int
    start: int
    end: int


def read_table_answer(
    path: Path, program: Program, roles: Sequence[Role], target: Target
) -> MemoryMap:
    """The map of an ``allocinfo``, with copies where they must be.

    A stay that begins where the buffer is written is produced there; any other is
    prefetched and due at its first access. What is needed from slow memory later is
    evicted after its last write, by the end of the stay. A prefetch into space that is
    not free yet is cut into slices, each issued when its own part is.

    Left out are rows of buffers that ``bufferinfo`` lacks (the cross-program prefetch)
    or of a part of a buffer, and stays in which nothing is known to happen.

    Raises:
        InputError: The table cannot be read.
    """
    numbers = {role.row.buffer_id: b for b, role in enumerate(roles)}
    columns = ("size", "offset", "start_time", "end_time")

    def parse(row: dict[str, str]) -> tuple[int, int, _Stay]:
        number = integer(row, "buffer_id", low=-(2**31))
        size, offset, start, end = (integer(row, name) for name in columns)
        return number, size, _Stay(offset, start, min(end + 1, len(program)))

    stays: dict[int, list[_Stay]] = defaultdict(list)
    for number, size, stay in read_table(path, ("buffer_id", *columns), parse):
        b = numbers.get(number)
        whole = b is not None and size == roles[b].row.size
        if b is not None and whole and stay.start < stay.end:
            stays[b].append(stay)
    found = [
        allocation
        for b, its in stays.items()
        for allocation in _allocations(b, roles[b], list(_merged(its)))
    ]
    found = list(_sliced(found, roles, target))
    return MemoryMap(tuple(sorted(found, key=lambda x: (x.start, x.buffer))))


def _merged(stays: Sequence[_Stay]) -> Iterator[_Stay]:
    open_stay: _Stay | None = None
    for stay in sorted(stays, key=lambda x: (x.start, x.end)):
        if (
            open_stay
            and open_stay.offset == stay.offset
            and stay.start <= open_stay.end
        ):
            open_stay = replace(open_stay, end=max(open_stay.end, stay.end))
            continue
        if open_stay:
            yield open_stay
        open_stay = stay
    if open_stay:
        yield open_stay


def _allocations(b: int, role: Role, stays: Sequence[_Stay]) -> Iterator[Allocation]:
    for number, stay in enumerate(stays):
        within = [t for t in role.sites if stay.start <= t < stay.end]
        later = stays[number + 1].start if number + 1 < len(stays) else None
        allocation = Allocation(b, stay.offset, stay.start, stay.end)
        if not within:
            continue
        if stay.start != role.written:
            allocation = replace(allocation, origin=Origin.PREFETCHED, ready=within[0])
        yield replace(allocation, eviction=_eviction(role, stay, within, later))


def _eviction(
    role: Role, stay: _Stay, within: Sequence[int], later: int | None
) -> Eviction | None:
    """The copy back, where something was written that slow memory must have."""
    writes = [t for t in within if t == role.written or t in role.updates]
    needed = role.is_output or later is not None or role.sites[-1] >= stay.end
    if not writes or not needed:
        return None
    issue = writes[-1] + 1
    due = stay.end if stay.end - 1 in within else stay.end - 1
    return Eviction(issue, max(issue, due))


def _sliced(
    allocations: Sequence[Allocation], roles: Sequence[Role], target: Target
) -> Iterator[Allocation]:
    """Cut the prefetches that would begin in space which others still hold."""
    sizes = np.array([roles[x.buffer].row.size for x in allocations], dtype=np.int64)
    low = np.array([x.offset for x in allocations], dtype=np.int64)
    start, end = np.array([(x.start, x.end) for x in allocations]).reshape(-1, 2).T
    for x, begin, size in zip(allocations, low.tolist(), sizes.tolist(), strict=True):
        others = (start < x.end) & (end > x.start) & (end < x.end)
        others &= (low < begin + size) & (low + sizes > begin)
        if x.origin is not Origin.PREFETCHED or not others.any():
            yield x
            continue
        held = [
            (int(low[i]) - begin, int(low[i] + sizes[i]) - begin, int(end[i]))
            for i in np.flatnonzero(others)
        ]
        last = max(x.ready, *(until for _, _, until in held))
        ready = next((t for t in roles[x.buffer].sites if last <= t < x.end), x.ready)
        slices = tuple(_slices(x.start, size, held, target))
        first = min(piece.issue for piece in slices)
        yield replace(x, start=first, ready=max(first, ready), slices=slices)


def _slices(
    start: int, size: int, held: Sequence[tuple[int, int, int]], target: Target
) -> Iterator[Slice]:
    """Parts of a prefetch as even as may be, each issued when its space is free.

    Args:
        start: When the prefetch begins.
        size: Its bytes.
        held: Bytes [from, to) of its space that others hold, and until when.
        target: Gives the alignment and the most parts.
    """
    units = -(-size // (target.fast.alignment * target.copy_engine.max_slices))
    step = units * target.fast.alignment
    for part in range(0, size, step):
        length = min(step, size - part)
        ends = [until for a, b, until in held if a < part + length and b > part]
        yield Slice(length, max([start, *ends]))
