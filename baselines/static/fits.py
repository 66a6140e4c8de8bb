"""First and best fit: buffers placed one by one, in several orders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.static.placing import Shapes, place_some
from hybridalloc.packing.block import Block, encode
from hybridalloc.packing.gaps import nothing
from hybridalloc.packing.kernel import NOWHERE
from hybridalloc.packing.order import Order, sort
from hybridalloc.packing.pack import AT_ONCE, Fit
from hybridalloc.solver import Run
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement

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


@dataclass(frozen=True, slots=True)
class FitsOptions:
    """The options of first and best fit."""

    order: Order | None = None
    """The only order in which buffers are placed; none: several in turn."""
    fit: Fit | None = None
    """Whether the lowest gap is taken or the smallest; none: both in turn."""


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
            fixed=_offsets(x.offset for x in buffers),
            wished=_offsets(None for _ in buffers),
            first=encoded.first,
            parts=np.ascontiguousarray(encoded.rectangles.T),
        )
        self._instants = len(times)
        self._hints = _offsets(x.hint for x in buffers)

    @property
    def has_hints(self) -> bool:
        """Whether some buffer has an offset to try first."""
        return bool((self._hints != NOWHERE).any())

    def place(
        self,
        order: Order,
        fit: Fit,
        capacity: int,
        run: Run,
        *,
        by_hints: bool = False,
    ) -> Ints | None:
        """(n,): the offsets, in bytes, if all buffers find a place in time.

        Those with a fixed offset come before the others, then those with hints if
        these count. The clock is looked at between some and the next, so few are
        always placed.
        """
        shapes = self._shapes
        if by_hints:
            shapes = shapes._replace(wished=self._hints)
        sequence = sort(self._sorted, order)
        rank = (shapes.fixed == NOWHERE) * (1 + (shapes.wished == NOWHERE))
        sequence = sequence[np.argsort(rank[sequence], kind="stable")]
        taken = nothing(self._instants, max(1, len(shapes.parts)))
        offsets = np.full(len(sequence), NOWHERE, np.int64)
        for i in range(0, len(sequence), AT_ONCE):
            if i > 0 and run.expired:
                return None
            some = sequence[i : i + AT_ONCE]
            if not place_some(some, shapes, taken, capacity, fit is Fit.BEST, offsets):
                return None
        return offsets


def _offsets(values: Iterable[int | None]) -> Ints:
    """(n,): offsets, -1 where there is none."""
    return np.array([NOWHERE if x is None else x for x in values], np.int64)


class Fits:
    """Several orders, with first and best fit; at first with the hints, if any."""

    def __init__(self, config: FitsOptions | None = None) -> None:
        self.config = config or FitsOptions()
        self._last: tuple[tuple[StaticBuffer, ...], Placer] | None = None

    def solve(self, problem: StaticProblem, run: Run) -> Placement:
        """Look for offsets within the capacity; proves nothing."""
        placer, capacity = self._placer(problem), problem.room
        orders = [self.config.order] if self.config.order else ORDERS
        ways = product(orders, [self.config.fit] if self.config.fit else Fit)
        passes = [(*way, False) for way in ways]
        if placer.has_hints:
            passes.insert(0, (*passes[0][:2], True))
        for order, fit, by_hints in passes:
            if run.expired:
                break
            offsets = placer.place(order, fit, capacity, run, by_hints=by_hints)
            if offsets is not None:
                name = f"{fit}-fit by {order.replace('_', ' ')}"
                name += " and hints" if by_hints else ""
                return Placement(tuple(offsets.tolist()), found_by=name)
        return UNDECIDED

    def _placer(self, problem: StaticProblem) -> Placer:
        """That of the last problem, if just the capacity is another."""
        if self._last is None or self._last[0] is not problem.buffers:
            self._last = problem.buffers, Placer(problem)
        return self._last[1]
