"""What copies and allocations compete for, spread over a tree of blocks.

Both are relaxed only where they stay far away: what is held during a whole block is one
entry in the block's row, and what a copy takes out of a block's idle time need not say
of which instruction. So a program of thousands of instructions needs a few dozen
entries for a stay or a copy, however long it may be, and nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.halving import Halving
from hybridalloc.bounds.linear_program import Builder


class FastMemory:
    """Capacity: at each instruction, what is held is no more than what is free.

    A block's *level* is at least the level of the block above it plus what is held
    during the whole block; the level of a single instruction is at most what is free.
    """

    def __init__(self, builder: Builder, tree: Halving, free: Ints) -> None:
        """Add the columns and rows of all blocks.

        Args:
            builder: Gets them.
            tree: The instructions.
            free: (T,): units that allocations may take.
        """
        self._builder, self._tree = builder, tree
        self._rows: dict[int, int] = {}
        levels: dict[int, int] = {}
        above = float(free.max()) + 1  # binds nowhere: only instructions are limited
        for block in tree.blocks():
            low, high = tree.span(block)
            most = float(free[low]) if high - low == 1 else above
            levels[block] = builder.column(high=most)
            entries = [(levels[block], -1.0)]
            if block > 1:
                entries.append((levels[block // 2], 1.0))
            self._rows[block] = builder.row(entries, high=0.0)
        self.columns = np.array([levels[tree.leaf(t)] for t in range(tree.count)])
        """(T,): the levels of single instructions."""

    def hold(self, column: int, amount: float, low: int, high: int) -> None:
        """``amount * column`` units are held during the instructions [low, high)."""
        for block in self._tree.cover(low, high):
            self._builder.add(self._rows[block], column, amount)


class IdleTime:
    """Idle time: copies take no more than what instructions leave free.

    A block takes what its halves leave over, serves copies that may run anywhere in
    it, and leaves the rest to the block above.
    """

    def __init__(
        self,
        builder: Builder,
        tree: Halving,
        rows: Sequence[int],
        most: Floats,
    ) -> None:
        """Add the columns and rows of all blocks.

        Args:
            builder: Gets them.
            tree: The instructions.
            rows: The row of each instruction: time taken out of it <= its idle time.
            most: (T,): the most idle time of each instruction.
        """
        self.rows: dict[int, int] = {}
        """By block."""
        self._tree = tree
        self._until: Floats = np.concatenate([[0.0], np.cumsum(most)])
        left: dict[int, int] = {}
        for block in sorted(tree.blocks(), reverse=True):
            low, high = tree.span(block)
            halves = [(left[x], -1.0) for x in (2 * block, 2 * block + 1) if x in left]
            row = builder.row(halves, high=0.0) if halves else rows[low]
            self.rows[block] = row
            if block > 1:
                left[block] = builder.column(high=self._within(low, high))
                builder.add(row, left[block], 1.0)

    def span(self, block: int) -> tuple[int, int]:
        """The instructions of a block, half-open."""
        return self._tree.span(block)

    def cells(
        self, low: int, high: int, work: float, *, forward: bool = False
    ) -> list[int]:
        """Blocks that are exactly [low, high), the smaller the closer to one end.

        A block has at most about as much idle time as ``work``, or as what lies
        between it and that end: a copy mostly needs to know the time close by.

        Args:
            low: The first instruction.
            high: The last one + 1, and the end where blocks are small.
            work: Time that the copy takes.
            forward: Whether blocks are small at ``low`` instead.
        """
        blocks, position = [], low if forward else high
        while position < high if forward else position > low:
            far = (
                self._within(low, position) if forward else self._within(position, high)
            )
            size = self._cell(position, low, high, max(work, far), forward)
            first = position if forward else position - size
            blocks.append((self._tree.width + first) // size)
            position = first + size if forward else first
        return blocks

    def _cell(
        self, position: int, low: int, high: int, most: float, forward: bool
    ) -> int:
        """The size of the largest block at a position with at most so much time."""
        size = 1
        while position % (2 * size) == 0:
            wide = 2 * size
            first = position if forward else position - wide
            if first < low or first + wide > high:
                break
            if self._within(first, first + wide) > most:
                break
            size = wide
        return size

    def _within(self, low: int, high: int) -> float:
        """The most idle time in [low, high), which may reach beyond the end."""
        return float(self._until[min(high, self._tree.count)] - self._until[low])
