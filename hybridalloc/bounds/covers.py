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


class Covers:
    """The stays at each instruction, to find covers among."""

    def __init__(self, relaxation: Relaxation) -> None:
        """Sort the stays by instruction."""
        self._free = relaxation.free
        lists: list[tuple[list[int], list[int]]] = [([], []) for _ in self._free]
        for stay in relaxation.stays:
            for columns, units in lists[stay.low : stay.high]:
                columns.append(stay.column)
                units.append(stay.units)
        self._stays: list[tuple[Ints, Ints]] = [
            (np.array(columns, dtype=np.int64), np.array(units, dtype=np.int64))
            for columns, units in lists
        ]

    def separate(self, values: Floats) -> Iterator[Row]:
        """The cuts that a solution violates, at most one for each instruction."""
        seen = set()
        for (columns, units), free in zip(self._stays, self._free, strict=True):
            chosen = values[columns] > _NONE
            if units[chosen].sum() <= free:
                continue
            cover = _cover(values[columns[chosen]], units[chosen], int(free))
            most = cover.size - 1
            inside = np.zeros(columns.size, dtype=np.bool_)
            inside[np.flatnonzero(chosen)[cover]] = True
            inside |= units >= units[inside].max()
            cut = np.sort(columns[inside])
            violated = values[cut].sum() > most + _LEAST_VIOLATION
            if violated and cut.tobytes() not in seen:
                seen.add(cut.tobytes())
                yield Row(cut, np.ones(cut.size), high=float(most))


def _cover(values: Floats, units: Ints, free: int) -> Ints:
    """Stays that exceed what is free, none of which could be left out.

    Those of the greatest values first; together they exceed it.
    """
    order = np.lexsort((units, -values))
    count = int(np.searchsorted(np.cumsum(units[order]), free, side="right")) + 1
    cover = order[:count]
    excess = int(units[cover].sum()) - free
    for i in cover[np.lexsort((units[cover], values[cover]))]:
        if units[i] < excess:
            excess -= int(units[i])
            cover = cover[cover != i]
    return cover
