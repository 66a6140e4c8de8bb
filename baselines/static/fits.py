"""First and best fit: buffers placed one by one, in several orders."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.packing.block import Block, encode
from hybridalloc.packing.kernel import NOWHERE, place
from hybridalloc.packing.order import Order, sort
from hybridalloc.packing.pack import AT_ONCE, Fit
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement, StaticRun


class Placer:
    """Places the buffers of a problem, in any order."""

    def __init__(self, problem: StaticProblem) -> None:
        buffers = problem.buffers
        self._earliest = min((x.start for x in buffers), default=0)
        sizes = np.array([x.size for x in buffers], np.int64)
        self.blocks = encode([self._block(x) for x in buffers])._replace(top=sizes)
        self._alignments = np.array([x.alignment for x in buffers], np.int64)
        self._room = problem.room

    def _block(self, buffer: StaticBuffer) -> Block:
        parts = [
            (r.low, r.high, r.start - self._earliest, r.end - self._earliest)
            for r in buffer.rectangles
        ]
        return Block(tuple(parts), buffer.offset)

    def place(self, order: Order, fit: Fit, run: StaticRun) -> Ints | None:
        """(n,): the offsets, in bytes, if all buffers find a place in time.

        Those with a fixed offset come before the others.
        """
        blocks = self.blocks
        sequence = sort(blocks, order)
        is_free = blocks.fixed[sequence] == NOWHERE
        sequence = sequence[np.argsort(is_free, kind="stable")]
        taken = np.empty((4, blocks.rectangles.shape[1]), np.int64)
        ascending = np.empty(taken.shape[1], np.int64)
        offsets = np.full(len(sequence), NOWHERE, np.int64)
        count = 0
        for part in self._parts(sequence):
            count = place(
                part,
                blocks,
                taken,
                ascending,
                count,
                self._room,
                int(self._alignments[part[0]]),
                fit is Fit.BEST,
                offsets,
            )
            if run.expired or (offsets[part] == NOWHERE).any():
                return None
        return offsets

    def _parts(self, sequence: Ints) -> Iterator[Ints]:
        """A sequence in short parts, of buffers with the same alignment each."""
        changes = np.flatnonzero(np.diff(self._alignments[sequence])) + 1
        for same in np.split(sequence, changes):
            for i in range(0, len(same), AT_ONCE):
                yield same[i : i + AT_ONCE]


class Fits:
    """All orders, with first and best fit."""

    def solve(self, problem: StaticProblem, run: StaticRun) -> Placement:
        """Look for offsets within the capacity; proves nothing."""
        placer = Placer(problem)
        for order, fit in product(ORDERS, Fit):
            if run.expired:
                break
            offsets = placer.place(order, fit, run)
            if offsets is not None:
                name = f"{fit}-fit by {order.replace('_', ' ')}"
                return Placement(tuple(offsets.tolist()), found_by=name)
        return UNDECIDED


ORDERS = (
    Order.SIZE,
    Order.AREA,
    Order.DURATION,
    Order.CONFLICT_AREA,
    Order.CONFLICT_BYTES,
    Order.CONFLICTS,
    Order.BREADTH,
)
"""In turn."""
