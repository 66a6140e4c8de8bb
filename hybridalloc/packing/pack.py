"""Packing: blocks placed one by one in a given order."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.packing.block import Block, encode
from hybridalloc.packing.kernel import NOWHERE, UNBOUNDED, insert, place
from hybridalloc.packing.order import Order, sort
from hybridalloc.packing.profile import live_profile, most_within
from hybridalloc.program import MAX_BYTES
from hybridalloc.target import MemorySpace

AT_ONCE = 500
"""So many blocks are placed between two looks at the clock."""


class Fit(StrEnum):
    """In which of the gaps that hold a block it is placed."""

    BEST = "best"
    """In the smallest during all its rectangles, or the lowest of those; the gap above
    everything counts as the largest."""
    FIRST = "first"
    """In the lowest."""


class Packer:
    """Places the same blocks, in any order, into the same memory."""

    def __init__(
        self,
        blocks: Sequence[Block],
        memory: MemorySpace,
        scratch: Sequence[int] = (),
    ) -> None:
        self.blocks = encode(blocks, scratch)
        self.capacity = MAX_BYTES if memory.capacity is None else memory.capacity
        self._alignment = memory.alignment
        ranges = [(low, high, 0, UNBOUNDED) for low, high in memory.reserved]
        self._reserved = np.array(ranges, np.int64).reshape(-1, 4).T
        self._scratch = np.array(scratch, np.int64)

    def sort(self, order: Order) -> Ints:
        """(blocks,): the blocks in an order."""
        return sort(self.blocks, order)

    def place(
        self,
        order: Ints,
        fit: Fit,
        capacity: int | None = None,
        deadline: float = math.inf,
    ) -> Ints:
        """Place all blocks; those with a fixed offset come before the others.

        Args:
            order: (blocks,): the first to be placed first.
            fit: In which gaps.
            capacity: Bytes, if not those of the memory.
            deadline: In seconds of ``time.monotonic()``; later nothing is placed.

        Returns:
            (blocks,): offsets in bytes, -1 where there is no place.
        """
        count = self._reserved.shape[1]
        taken = np.empty((4, count + self.blocks.rectangles.shape[1]), np.int64)
        ascending = np.empty(taken.shape[1], np.int64)
        insert(taken, ascending, 0, self._reserved, 0)
        offsets = np.full(len(order), NOWHERE, np.int64)
        free = self.blocks.fixed[order] == NOWHERE
        order = order[np.argsort(free, kind="stable")]
        capacity = self.capacity if capacity is None else capacity
        for i in range(0, len(order), AT_ONCE):
            if time.monotonic() > deadline:
                break
            count = place(
                order[i : i + AT_ONCE],
                self.blocks,
                taken,
                ascending,
                count,
                capacity,
                self._alignment,
                fit is Fit.BEST,
                offsets,
            )
        return offsets

    def peak(self, offsets: Ints) -> int:
        """The highest address in use, in bytes; 0 if nothing is placed."""
        placed = offsets != NOWHERE
        return int((offsets + self.blocks.top)[placed].max(initial=0))

    def bound(self) -> int:
        """A peak, in bytes, that no packing of all blocks goes below.

        At each time all that is live lies above the scratch, each but the topmost with
        the padding up to the next multiple of the alignment.
        """
        low, high, start, end = self.blocks.rectangles
        padding = -high % self._alignment
        points, live = live_profile(high + padding - low, start, end)
        later = np.append(points[1:], points[-1:])
        scratch = most_within(self._scratch, points, later)
        stack = (live + scratch)[live > 0].max(initial=0) - padding.max(initial=0)
        alone = np.maximum(self.blocks.floor, self.blocks.fixed) + self.blocks.top
        return max(int(stack), int(alone.max(initial=0)))


def pack(
    blocks: Sequence[Block],
    memory: MemorySpace,
    *,
    scratch: Sequence[int] = (),
    order: Order = Order.SIZE,
    fit: Fit = Fit.BEST,
) -> tuple[int | None, ...]:
    """Place blocks one by one; those with a fixed offset come before the others.

    Args:
        blocks: What to place.
        memory: Its capacity, alignment and reserved ranges are kept to.
        scratch: Bytes, from offset 0, that nothing may take at each instruction.
        order: Which block is placed first.
        fit: In which of the gaps that hold it.

    Returns:
        The offset of each block in bytes, or ``None`` if there was no gap.

    >>> memory = MemorySpace("fast", 1.0, 1.0, capacity=12)
    >>> pack([Block(((0, 4, 0, 2),)), Block(((0, 8, 1, 3),))], memory)
    (8, 0)
    """
    packer = Packer(blocks, memory, scratch)
    return as_offsets(packer.place(packer.sort(order), fit))


def as_offsets(offsets: Ints) -> tuple[int | None, ...]:
    """Offsets in bytes, ``None`` for -1."""
    return tuple(None if x == NOWHERE else x for x in offsets.tolist())
