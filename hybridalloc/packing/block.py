"""Blocks: rectangles of time and bytes that share one offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.memory_map import Rectangle
from hybridalloc.packing.kernel import NOWHERE, Blocks
from hybridalloc.packing.profile import most_within


@dataclass(frozen=True, slots=True)
class Block:
    """What is placed as one: parts of a buffer, and stays that must share a place.

    >>> Block(((0, 4, 2, 9), (4, 8, 0, 9))).size
    8
    """

    rectangles: tuple[Rectangle, ...]
    """Bytes from the block's offset, and half-open ranges of instructions."""
    offset: int | None = None
    """The only offset that it may have, if fixed."""

    def __post_init__(self) -> None:
        for low, high, start, end in self.rectangles:
            if not (0 <= low <= high and 0 <= start < end):
                raise ValueError(
                    f"block: expected 0 <= low <= high and 0 <= start < end, got "
                    f"bytes [{low}, {high}) during instructions [{start}, {end})"
                )
        if self.offset is not None and self.offset < 0:
            raise ValueError(f"block: offset {self.offset} is negative")

    @property
    def size(self) -> int:
        """Bytes from its offset to the end of its highest rectangle."""
        return max((high for _, high, _, _ in self.rectangles), default=0)


def encode(blocks: Sequence[Block], scratch: Sequence[int] = ()) -> Blocks:
    """Blocks as arrays; rectangles of no bytes, which meet nothing, are left out.

    Args:
        blocks: What is to be placed.
        scratch: Bytes, from offset 0, that nothing may take at each instruction.
    """
    kept = [[r for r in block.rectangles if r[0] < r[1]] for block in blocks]
    first = np.array([0, *accumulate(map(len, kept))], np.int64)
    flat = np.array([r for some in kept for r in some], np.int64).reshape(-1, 4)
    rectangles = np.ascontiguousarray(flat.T)
    fixed = [NOWHERE if block.offset is None else block.offset for block in blocks]
    return Blocks(
        first,
        rectangles,
        np.array([block.size for block in blocks], np.int64),
        _floors(first, rectangles, np.array(scratch, np.int64)),
        np.array(fixed, np.int64),
    )


def _floors(first: Ints, rectangles: Ints, scratch: Ints) -> Ints:
    """(blocks,): the offsets from which all rectangles are above the scratch."""
    floors = np.zeros(len(first) - 1, np.int64)
    if scratch.any():
        low, _, start, end = rectangles
        owner = np.repeat(np.arange(len(floors)), np.diff(first))
        np.maximum.at(floors, owner, most_within(scratch, start, end) - low)
    return floors
