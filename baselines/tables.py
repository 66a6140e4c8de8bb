"""The arrays of a plan that changes stay by stay, for ``Simulator.evaluate``."""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from hybridalloc.allocating import queue_key
from hybridalloc.arrays import Floats, Ints
from hybridalloc.baselines.placed import Placed
from hybridalloc.memory_map import Allocation
from hybridalloc.program import Program
from hybridalloc.simulator.map_arrays import EVICTION, PREFETCH, MapArrays

START, BUFFER, READY, END = range(4)
"""The rows of the table of allocations."""
ALLOCATION, QUEUE, ISSUE, DUE = range(4)
"""The rows of the table of copies."""

Key = tuple[tuple[int, int, int, int], int, int]
"""Orders copies as a map orders them: by allocation, then by queue and slice."""


class Tables:
    """The allocations and copies of the stays that are in.

    ``evaluate(tables.arrays)`` is the time of the map that ``in_queue_order`` makes of
    them, and costs nothing to keep up to date when few stays change.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._owners: list[Placed | None] = []
        self._unused: list[int] = []
        self._rows: dict[Placed, list[int]] = {}
        self._allocations: Ints = np.zeros((4, 64), np.int64)
        self._keys: list[Key] = []
        self._copies: Ints = np.zeros((4, 64), np.int64)
        self._bytes: Floats = np.zeros(64)

    @property
    def arrays(self) -> MapArrays:
        """Views, which change with the tables; rows without owners serve nothing."""
        _, buffer, ready, end = self._allocations[:, : len(self._owners)]
        allocation, queue, issue, due = self._copies[:, : len(self._keys)]
        size = self._bytes[: len(self._keys)]
        return MapArrays(buffer, ready, end, allocation, size, queue, issue, due)

    def between(self, start: int, end: int) -> list[Placed]:
        """The stays that have a place in fast memory at any time of [start, end)."""
        starts, _, _, ends = self._allocations[:, : len(self._owners)]
        rows = np.flatnonzero((starts < end) & (ends > start)).tolist()
        found = (self._owners[row] for row in rows)
        return list(dict.fromkeys(x for x in found if x is not None))

    def owner(self, share: float) -> Placed | None:
        """The stay whose row is this share of the way down, if the row has one.

        Args:
            share: In [0, 1).
        """
        return self._owners[int(share * len(self._owners))] if self._owners else None

    def put(self, placed: Placed) -> None:
        """Put in a stay."""
        self._rows[placed] = rows = []
        for allocation in placed.allocations:
            row = self._unused.pop() if self._unused else self._new_row()
            x = allocation
            self._owners[row] = placed
            self._allocations[:, row] = x.start, x.buffer, x.ready, x.end
            rows.append(row)
            for key, size, issue, due in self._copies_of(allocation):
                self._insert(key, size, (row, key[1], issue, due))

    def take_out(self, placed: Placed) -> None:
        """Take out a stay."""
        for row in self._rows.pop(placed):
            self._owners[row] = None
            self._allocations[:, row] = 0
            self._unused.append(row)
        for allocation in placed.allocations:
            for key, *_ in self._copies_of(allocation):
                self._delete(key)

    def _new_row(self) -> int:
        if len(self._owners) == self._allocations.shape[1]:
            more = np.zeros_like(self._allocations)
            self._allocations = np.concatenate((self._allocations, more), axis=1)
        self._owners.append(None)
        return len(self._owners) - 1

    def _copies_of(self, x: Allocation) -> list[tuple[Key, int, int, int]]:
        """Each copy's key, bytes, issue and due."""
        size, copies = self._program.buffers[x.buffer].size, []
        if x.has_copy:
            parts = [(piece.size, piece.issue) for piece in x.slices]
            for number, (part, issue) in enumerate(parts or [(size, x.start)]):
                key = (queue_key(x), PREFETCH, number)
                copies.append((key, part, issue, x.ready))
        if x.eviction:
            key = (queue_key(x), EVICTION, 0)
            copies.append((key, size, x.eviction.issue, x.eviction.due))
        return copies

    def _insert(self, key: Key, size: int, copy: tuple[int, int, int, int]) -> None:
        count = len(self._keys)
        if count == len(self._bytes):
            more = np.zeros_like(self._copies)
            self._copies = np.concatenate((self._copies, more), axis=1)
            self._bytes = np.concatenate((self._bytes, np.zeros(count)))
        at = bisect_left(self._keys, key)
        self._copies[:, at + 1 : count + 1] = self._copies[:, at:count]
        self._bytes[at + 1 : count + 1] = self._bytes[at:count]
        self._copies[:, at] = copy
        self._bytes[at] = size
        insort(self._keys, key)

    def _delete(self, key: Key) -> None:
        at, count = bisect_left(self._keys, key), len(self._keys)
        self._copies[:, at : count - 1] = self._copies[:, at + 1 : count]
        self._bytes[at : count - 1] = self._bytes[at + 1 : count]
        del self._keys[at]
