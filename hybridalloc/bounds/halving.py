"""The instructions as a binary tree of blocks, each half of the one above it."""

from __future__ import annotations

from collections.abc import Iterator


class Halving:
    """Blocks of 1, 2, 4, ... instructions, numbered like a heap: 1 is the root.

    >>> tree = Halving(6)
    >>> [tree.span(block) for block in tree.cover(1, 6)]
    [(1, 2), (2, 4), (4, 6)]
    """

    def __init__(self, count: int) -> None:
        """A tree over instructions 0 to count - 1."""
        self.count = count
        self.width = 1 << (count - 1).bit_length()

    def leaf(self, t: int) -> int:
        """The block of one instruction."""
        return self.width + t

    def span(self, block: int) -> tuple[int, int]:
        """The instructions of a block, half-open; beyond the end there are none."""
        size = self.width >> (block.bit_length() - 1)
        low = block * size - self.width
        return low, low + size

    def blocks(self) -> Iterator[int]:
        """All blocks with instructions, each after the one above it."""
        return (x for x in range(1, 2 * self.width) if self.span(x)[0] < self.count)

    def cover(self, low: int, high: int) -> list[int]:
        """The fewest blocks that are exactly the instructions [low, high), in order."""
        left, right = [], []
        low += self.width
        high += self.width
        while low < high:
            if low & 1:
                left.append(low)
                low += 1
            if high & 1:
                high -= 1
                right.append(high)
            low >>= 1
            high >>= 1
        return left + right[::-1]
