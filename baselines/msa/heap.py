"""Where pieces lie in fast memory: XLA's best-fit heap, and its repacker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridalloc.baselines.msa.piece import Piece
from hybridalloc.memory_map import Rectangle
from hybridalloc.packing.block import Block
from hybridalloc.packing.order import Order
from hybridalloc.packing.pack import Fit, pack
from hybridalloc.packing.space import Space
from hybridalloc.problem import Problem

Part = tuple[int, int]
"""Bytes of a buffer, and the time from which they are there."""


class Heap:
    """The pieces that hold a place, by the numbers that they were given.

    Source: openxla/xla, ``heap_simulator.cc`` and ``best_fit_repacker.cc``.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._program = problem.program
        self._space: Space[int] = Space(problem)
        self.pieces: dict[int, Piece] = {}
        self._count = 0

    def best_fit(
        self, buffer: int, parts: Sequence[Part], ends: Sequence[int]
    ) -> int | None:
        """An offset at which a buffer may stay for as long as can be.

        Args:
            buffer: What to place.
            parts: Of the buffer, in order of address.
            ends: Times until which it would like to keep its place, ascending; it
                needs the place until the first.

        Returns:
            Bytes; ``None`` if there is no place even until the first end.
        """
        found = self._offset(buffer, parts, ends[0])
        if found is None:
            return None
        low, high = 1, len(ends)
        while low < high:
            middle = (low + high) // 2
            offset = self._offset(buffer, parts, ends[middle])
            if offset is None:
                high = middle
            else:
                found, low = offset, middle + 1
        return found

    def _offset(self, buffer: int, parts: Sequence[Part], end: int) -> int | None:
        """The tightest place; above all else only if there is no other."""
        its = self._program.buffers[buffer]
        span = max(start for _, start in parts), end + 1
        if not self._space.may_fit(its, span):
            return None
        gaps = self._space.gaps(its, [span])
        top = self._problem.target.capacity
        for low, _ in sorted(gaps, key=lambda x: (x[1] == top, x[1] - x[0], x[0])):
            if self._early_parts_fit(buffer, parts, low, span[0]):
                return low
        return None

    def _early_parts_fit(
        self, buffer: int, parts: Sequence[Part], offset: int, until: int
    ) -> bool:
        """Whether what is there before the last part finds its place free."""
        space = self._space
        for size, start in parts:
            end = offset + size
            if start < until and space.free_until(offset, end, start, until) < until:
                return False
            offset = end
        return True

    def free_until(self, piece: Piece, end: int) -> int:
        """The last time until which a piece may stay where it is, at most ``end``."""
        low, size = piece.offset, self._program.buffers[piece.buffer].size
        until = self._space.free_until(low, low + size, piece.end + 1, end + 1)
        return max(piece.end, until - 1)

    def put(self, piece: Piece) -> int:
        """Give a piece its place, and a number."""
        self._count += 1
        self.pieces[self._count] = piece
        self._take(self._count, piece)
        return self._count

    def replace(self, number: int, piece: Piece) -> None:
        """Put one piece in the place of another."""
        self._space.give_back(number)
        self.pieces[number] = piece
        self._take(number, piece)

    def remove(self, number: int) -> None:
        """Free the place of a piece."""
        self._space.give_back(number)
        del self.pieces[number]

    def _take(self, number: int, piece: Piece) -> None:
        for rectangle in self._rectangles(piece):
            self._space.take(number, rectangle)

    def _rectangles(self, piece: Piece) -> list[Rectangle]:
        size = self._program.buffers[piece.buffer].size
        return [
            rectangle
            for allocation in piece.allocations(len(self._program))
            for rectangle in allocation.rectangles(size)
        ]

    def repack(self) -> bool:
        """Choose all offsets anew, what is there longest first, unless not all fit."""
        blocks = [
            Block(
                tuple(self._rectangles(replace(piece, offset=0))),
                self._program.buffers[piece.buffer].offset,
            )
            for piece in self.pieces.values()
        ]
        scratch = [x.scratch_bytes for x in self._program.instructions]
        offsets = pack(
            blocks,
            self._problem.target.fast,
            scratch=scratch,
            order=Order.REPACKER,
            fit=Fit.BEST,
        )
        moved: dict[int, Piece] = {}
        for (number, piece), offset in zip(self.pieces.items(), offsets, strict=True):
            if offset is None:
                return False
            moved[number] = replace(piece, offset=offset)
        self._space = Space(self._problem)
        for number, piece in moved.items():
            self._take(number, piece)
        changed, self.pieces = moved != self.pieces, moved
        return changed
