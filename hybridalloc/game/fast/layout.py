"""The memory of a position: all its own tables in one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.incremental.directory import ADDRESS, directory, ints
from hybridalloc.jit import compiled

Array = Floats | Ints


@dataclass(frozen=True)
class Layout:
    """Where the tables of a position are.

    Some are the same for all positions of a game: what never changes, and room to work
    in. The others are in the position's own block.
    """

    where: Ints
    """(tables, 3): the directory; addresses within a block are relative to it."""
    own: Ints
    """(own tables,): those within the block."""
    growing: Ints
    """(tables,): how many rows of each belong to a slot; 0 if it is not by slots."""
    words: int
    """The size of a block, in numbers of 64 bits."""

    def directory(self, block: Ints) -> Ints:
        """(tables, 3): the directory of the position in a block."""
        where = self.where.copy()
        where[self.own, ADDRESS] += block.ctypes.data
        return where


def lay_out(arrays: Sequence[Array], growing: Sequence[int | None]) -> Layout:
    """Plan the memory of a position.

    Args:
        arrays: All its tables.
        growing: How many rows of each belong to a slot; 0 if it is not by slots, and
            nothing if it is the same for all positions. Whoever plans keeps it alive.
    """
    where, words = directory(arrays), 0
    own = [i for i, rows in enumerate(growing) if rows is not None]
    for i in own:
        where[i, ADDRESS] = 8 * words
        words += arrays[i].size
    rows = np.array([x or 0 for x in growing], dtype=np.int64)
    return Layout(where, np.array(own, dtype=np.int64), rows, words)


def fill(block: Ints, layout: Layout, arrays: Sequence[Array]) -> None:
    """Put tables into a block."""
    for i in layout.own.tolist():
        begin = int(layout.where[i, ADDRESS]) // 8
        block[begin : begin + arrays[i].size] = arrays[i].view(np.int64).ravel()


@compiled
def copy_tables(
    source: Ints, target: Ints, own: Ints, growing: Ints, slots: int
) -> None:
    """Copy a position into the block of another one of the same game.

    Args:
        source: Its directory.
        target: The other's.
        own: As in ``Layout``.
        growing: As in ``Layout``.
        slots: How many slots were ever in use; others need no copying.
    """
    for which in own:
        one, other = ints(source, which), ints(target, which)
        rows = one.shape[0]
        if growing[which]:
            rows = min(rows, slots * growing[which])
        other[:rows] = one[:rows]
