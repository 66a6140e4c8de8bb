"""Cover cuts: of stays that do not fit together at an instruction, not all are chosen.

The relaxation may choose half of a buffer; whole buffers do not fit where their halves
do. If the ``k + 1`` smallest of some stays exceed what is free, at most ``k`` of all of
them are chosen (extended cover inequalities of the knapsack polytope; Balas 1975).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.linear_program import Row
from hybridalloc.bounds.relaxation import Relaxation

_LEAST_VIOLATION = 1e-3
_NONE = 1e-6
"""What is chosen less than this is not chosen."""


class Knapsack:
    """Columns, not all of which may be 1: ``weights @ x[columns] <= most``."""

    def __init__(self, columns: Ints, weights: Ints, most: int) -> None:
        """A row of it.

        Args:
            columns: (items,): each 0 or 1.
            weights: (items,): positive.
            most: What fits.
        """
        self._columns, self._weights, self._most = columns, weights, most

    def cut(self, values: Floats) -> Row | None:
        """The extended cover inequality that a solution violates, if one is found.

        If some columns exceed what fits, not all of them are 1; and of those that weigh
        no less than each of them, no more (Balas 1975).
        """
        values, weights = values[self._columns], self._weights
        order = np.lexsort((weights, -values))
        order = order[values[order] > _NONE]
        sums = np.cumsum(weights[order])
        count = int(np.searchsorted(sums, self._most, side="right")) + 1
        if count > order.size:
            return None
        cover = self._least(order[:count], int(sums[count - 1]) - self._most)
        inside = weights >= weights[cover].max()
        inside[cover] = True
        most = cover.size - 1
        if values[inside].sum() <= most + _LEAST_VIOLATION:
            return None
        columns = np.sort(self._columns[inside])
        return Row(columns, np.ones(columns.size), high=float(most))

    def _least(self, cover: Ints, excess: int) -> Ints:
        """Leave out what is not needed to exceed, the least chosen first."""
        needed = []
        for i in cover[::-1].tolist():
            if self._weights[i] < excess:
                excess -= int(self._weights[i])
            else:
                needed.append(i)
        return np.array(needed, dtype=np.int64)


class Covers:
    """The stays at each instruction, to find covers among."""

    def __init__(self, relaxation: Relaxation) -> None:
        """Sort the stays by instruction."""
        lists: list[tuple[list[int], list[int]]] = [([], []) for _ in relaxation.free]
        for stay in relaxation.stays:
            for columns, units in lists[stay.low : stay.high]:
                columns.append(stay.column)
                units.append(stay.units)
        self._knapsacks = [
            Knapsack(
                np.array(columns, dtype=np.int64),
                np.array(units, dtype=np.int64),
                int(free),
            )
            for (columns, units), free in zip(lists, relaxation.free, strict=True)
        ]

    def separate(self, values: Floats) -> Iterator[Row]:
        """The cuts that a solution violates, at most one for each instruction."""
        seen = set()
        for knapsack in self._knapsacks:
            cut = knapsack.cut(values)
            if cut is not None and cut.columns.tobytes() not in seen:
                seen.add(cut.columns.tobytes())
                yield cut
