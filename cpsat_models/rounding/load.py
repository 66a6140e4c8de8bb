"""Fast memory as a mere number of bytes at each time, without places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from hybridalloc.baselines.placed import Placed
from hybridalloc.bounds.space import units
from hybridalloc.memory_map import Rectangle
from hybridalloc.packing.space import Space, Span
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer


class Load(Space[Placed]):
    """Takes whatever fits by bytes; the offsets that it gives mean nothing."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        reserved = problem.target.fast.reserved
        self._capacity -= sum(high - low for low, high in reserved)
        self._held: dict[Placed, list[Rectangle]] = defaultdict(list)

    def may_fit(self, buffer: Buffer, span: Span) -> bool:
        """Whether enough whole units are free at each time of a span."""
        most = self._used[span[0] : span[1]].max(initial=0)
        return bool(most + self._whole(buffer.size) <= self._capacity)

    def best_fit(self, buffer: Buffer, spans: Sequence[Span]) -> int | None:
        """Some offset if it fits by bytes."""
        fits = all(self.may_fit(buffer, span) for span in spans)
        return (buffer.offset or 0) if fits else None

    def take(self, owner: Placed, rectangle: Rectangle, value: float = 0.0) -> None:
        """Take the bytes of a rectangle."""
        low, high, start, end = rectangle
        self._used[start:end] += self._whole(high - low)
        self._held[owner].append(rectangle)

    def give_back(self, owner: Placed) -> None:
        """Free all bytes of an owner."""
        for low, high, start, end in self._held.pop(owner, []):
            self._used[start:end] -= self._whole(high - low)

    def since(self, size: int, end: int) -> int:
        """The first instruction from which so many bytes are free until an end."""
        free = self._used[:end] + self._whole(size) <= self._capacity
        return end - int(np.argmin(free[::-1])) if not free.all() else 0

    def _whole(self, size: int) -> int:
        return units(size, self._alignment) * self._alignment
