"""The memory of a position: all its own tables in one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.incremental.directory import ADDRESS, directory
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
    tables: Ints
    """(own tables, 3): where each begins, its words, and those of a slot or 0."""
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
    tables = []
    for i in own:
        where[i, ADDRESS] = 8 * words
        width = arrays[i][0].size if arrays[i].ndim > 1 else 1
        tables.append((words, arrays[i].size, (growing[i] or 0) * width))
        words += arrays[i].size
    ours = np.array(own, dtype=np.int64)
    return Layout(where, ours, np.array(tables, dtype=np.int64), words)


def fill(block: Ints, layout: Layout, arrays: Sequence[Array]) -> None:
    """Put tables into a block."""
    for i in layout.own.tolist():
        begin = int(layout.where[i, ADDRESS]) // 8
        block[begin : begin + arrays[i].size] = arrays[i].view(np.int64).ravel()


@compiled
def copy_block(source: Ints, target: Ints, tables: Ints, slots: int) -> None:
    """Copy a position into the block of another one of the same game.

    Args:
        source: Its block.
        target: The other's.
        tables: (own tables, 3): where each begins, its words, and those of a slot or 0.
        slots: How many slots were ever in use; others need no copying.
    """
    for k in range(tables.shape[0]):
        begin, words, of_slot = tables[k]
        if of_slot:
            words = min(words, slots * of_slot)
        target[begin : begin + words] = source[begin : begin + words]
