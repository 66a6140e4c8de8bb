"""First and best fit: buffers placed one by one, in several orders."""

from __future__ import annotations

from itertools import product

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.static.placing import Shapes, place_some
from hybridalloc.packing.block import Block, encode
from hybridalloc.packing.gaps import nothing
from hybridalloc.packing.kernel import NOWHERE
from hybridalloc.packing.order import Order, sort
from hybridalloc.packing.pack import AT_ONCE, Fit
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement, StaticRun

ORDERS = (
    Order.SIZE,
    Order.AREA,
    Order.CONFLICT_AREA,
    Order.BREADTH,
    Order.DURATION,
    Order.CONFLICT_BYTES,
    Order.CONFLICTS,
)
"""In turn."""


class Placer:
    """Places the buffers of a problem, in any order."""

    def __init__(self, problem: StaticProblem) -> None:
        buffers = problem.buffers
        times = {t for x in buffers for r in x.rectangles for t in (r.start, r.end)}
        index = {time: i for i, time in enumerate(sorted(times))}
        blocks = [
            tuple((r.low, r.high, index[r.start], index[r.end]) for r in x.rectangles)
            for x in buffers
        ]
        lives = [
            tuple((r.low, r.high, r.start - begin, r.end - begin) for r in x.rectangles)
            for begin in [min(times, default=0)]
            for x in buffers
        ]
        self._sorted = encode([Block(x) for x in lives])
        encoded = encode([Block(x) for x in blocks])
        self._shapes = Shapes(
            sizes=np.array([x.size for x in buffers], np.int64),
            alignments=np.array([x.alignment for x in buffers], np.int64),
            fixed=np.array(
                [NOWHERE if x.offset is None else x.offset for x in buffers], np.int64
            ),
            first=encoded.first,
            parts=np.ascontiguousarray(encoded.rectangles.T),
        )
        self._instants = len(times)

    def place(
        self, order: Order, fit: Fit, capacity: int, run: StaticRun
    ) -> Ints | None:
        """(n,): the offsets, in bytes, if all buffers find a place in time.

        Those with a fixed offset come before the others.
        """
        shapes = self._shapes
        sequence = sort(self._sorted, order)
        is_free = shapes.fixed[sequence] == NOWHERE
        sequence = sequence[np.argsort(is_free, kind="stable")]
        taken = nothing(self._instants, max(1, len(shapes.parts)))
        offsets = np.full(len(sequence), NOWHERE, np.int64)
        for i in range(0, len(sequence), AT_ONCE):
            some = sequence[i : i + AT_ONCE]
            is_best = fit is Fit.BEST
            is_done = place_some(some, shapes, taken, capacity, is_best, offsets)
            if run.expired or not is_done:
                return None
        return offsets


class Fits:
    """All orders, with first and best fit."""

    def __init__(self) -> None:
        self._last: tuple[tuple[StaticBuffer, ...], Placer] | None = None

    def solve(self, problem: StaticProblem, run: StaticRun) -> Placement:
        """Look for offsets within the capacity; proves nothing."""
        placer, capacity = self._placer(problem), problem.room
        for order, fit in product(ORDERS, Fit):
            if run.expired:
                break
            offsets = placer.place(order, fit, capacity, run)
            if offsets is not None:
                name = f"{fit}-fit by {order.replace('_', ' ')}"
                return Placement(tuple(offsets.tolist()), found_by=name)
        return UNDECIDED

    def _placer(self, problem: StaticProblem) -> Placer:
        """That of the last problem, if just the capacity is another."""
        if self._last is None or self._last[0] is not problem.buffers:
            self._last = problem.buffers, Placer(problem)
        return self._last[1]
