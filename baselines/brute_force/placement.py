"""Offsets for groups of allocations, by trying every order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridalloc.problem import Problem

Box = tuple[int, int, int]
"""The instructions that it spans, as a mask; its first byte; the byte after its last.
"""


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Allocations of one buffer at one offset."""

    buffer: int
    held: int
    """The instructions during which one of them is there, as a mask."""


class Placement:
    """Finds places for groups in the fast memory of a problem.

    If there are places for all, then also such that none could lie lower while the
    others stay. In those, taken in order of offset, each lies at the lowest place that
    is free beside what was taken before it (a later one above it cannot have been in
    its way): so some order finds them.
    """

    def __init__(self, problem: Problem) -> None:
        program, space = problem.program, problem.target.fast
        self._capacity, self._alignment = problem.target.capacity, space.alignment
        self._sizes = [buffer.size for buffer in program.buffers]
        self._fixed = [buffer.offset for buffer in program.buffers]
        self._taken: list[Box] = [
            (1 << t, 0, step.scratch_bytes)
            for t, step in enumerate(program.instructions)
            if step.scratch_bytes
        ]
        always = (1 << len(program)) - 1
        self._taken += [(always, low, high) for low, high in space.reserved]
        self._known: dict[tuple[Group, ...], tuple[int, ...] | None] = {}

    def room(self, t: int) -> int:
        """The bytes that allocations may hold at most during instruction ``t``."""
        blocked = sorted(
            (low, min(high, self._capacity))
            for mask, low, high in self._taken
            if mask >> t & 1
        )
        left, top = self._capacity, 0
        for low, high in blocked:
            left -= max(0, high - max(low, top))
            top = max(top, high)
        return left

    def offsets(self, groups: tuple[Group, ...]) -> tuple[int, ...] | None:
        """An offset for each group, or ``None`` if there are none for all."""
        if groups not in self._known:
            self._known[groups] = self._search(groups)
        return self._known[groups]

    def _search(self, groups: Sequence[Group]) -> tuple[int, ...] | None:
        boxes, places = list(self._taken), dict[int, int]()
        waiting = []
        for i, group in enumerate(groups):
            fixed, size = self._fixed[group.buffer], self._sizes[group.buffer]
            if fixed is None and size:
                waiting.append(i)
                continue
            places[i] = fixed or 0
            if not self._is_free(boxes, group.held, places[i], size):
                return None
            boxes.append((group.held, places[i], places[i] + size))
        if not self._place(groups, waiting, boxes, places):
            return None
        return tuple(places[i] for i in range(len(groups)))

    def _place(
        self,
        groups: Sequence[Group],
        waiting: Sequence[int],
        boxes: list[Box],
        places: dict[int, int],
    ) -> bool:
        if not waiting:
            return True
        for i in waiting:
            held, size = groups[i].held, self._sizes[groups[i].buffer]
            lowest = self._lowest(boxes, held, size)
            if lowest is None:
                return False
            boxes.append((held, lowest, lowest + size))
            places[i] = lowest
            if self._place(groups, [x for x in waiting if x != i], boxes, places):
                return True
            boxes.pop()
        return False

    def _lowest(self, boxes: Sequence[Box], held: int, size: int) -> int | None:
        """The lowest place; where nothing is in the way it could lie lower still."""
        for offset in sorted(set(self._bottoms(boxes, held))):
            if self._is_free(boxes, held, offset, size):
                return offset
        return None

    def _bottoms(self, boxes: Sequence[Box], held: int) -> Iterator[int]:
        yield 0
        for mask, _, high in boxes:
            if mask & held:
                yield -(-high // self._alignment) * self._alignment

    def _is_free(self, boxes: Sequence[Box], held: int, offset: int, size: int) -> bool:
        if offset % self._alignment or offset + size > self._capacity:
            return False
        return not any(
            size and mask & held and low < offset + size and offset < high
            for mask, low, high in boxes
        )
