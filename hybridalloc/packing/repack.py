"""Repacking: the order of placing is searched until everything fits, and lower."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, product

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.packing.block import Block
from hybridalloc.packing.kernel import NOWHERE
from hybridalloc.packing.order import Order
from hybridalloc.packing.pack import Fit, Packer, as_offsets
from hybridalloc.program import MAX_BYTES
from hybridalloc.target import MemorySpace

LEAST_STEP = 0.3
"""What did not fit moves up by at most the whole order, or by a part of it that differs
from packing to packing, at least this."""
PATIENCE = 2000
"""After so many packings in a row that do not fit, the search starts again."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Offsets, and how good they are."""

    offsets: Ints
    """(blocks,): bytes, -1 where there is no place."""
    left_bytes: int
    """The bytes of what has no place."""
    peak: int
    """The highest address in use."""

    @property
    def cost(self) -> tuple[int, int]:
        """What is to be least."""
        return self.left_bytes, self.peak


class _Search:
    """The best packing so far, and when to stop."""

    def __init__(
        self, packer: Packer, goal: int, deadline: float, iterations: float
    ) -> None:
        self.packer = packer
        self.best: Packing | None = None
        self._goal = max(goal, packer.bound())
        self._deadline = deadline
        self._left = iterations

    @property
    def is_over(self) -> bool:
        """Whether the limits are reached, or the goal."""
        if self.best is None:
            return False
        reached = self.best.left_bytes == 0 and self.best.peak <= self._goal
        return reached or self._left <= 0 or time.monotonic() >= self._deadline

    @property
    def limit(self) -> int:
        """The capacity that a better packing keeps to."""
        if self.best is None or self.best.left_bytes:
            return self.packer.capacity
        return min(self.packer.capacity, self.best.peak - 1)

    def take(self, offsets: Ints) -> Packing:
        """Take note of a packing within capacity."""
        left = self.packer.blocks.top[offsets == NOWHERE].sum()
        packing = Packing(offsets, int(left), self.packer.peak(offsets))
        if self.best is None or packing.cost < self.best.cost:
            self.best = packing
        return packing

    def place(self, order: Ints, fit: Fit, capacity: int | None = None) -> Packing:
        """One iteration."""
        self._left -= 1
        offsets = self.packer.place(order, fit, capacity, self._deadline)
        return self.take(offsets)

    def squeak(self, order: Ints, fit: Fit, rng: np.random.Generator) -> None:
        """Move up what did not fit below the best peak, again and again."""
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order))
        tries = 0
        while not self.is_over and tries < PATIENCE:
            order = np.argsort(rank, kind="stable")
            packing = self.place(order, fit, self.limit)
            squeaky = np.flatnonzero(packing.offsets == NOWHERE)
            tries = tries + 1 if len(squeaky) else 0
            step = len(order) * LEAST_STEP ** rng.uniform(0, 1)
            rank[squeaky] -= rng.uniform(0, step, len(squeaky))


def repack(
    blocks: Sequence[Block],
    memory: MemorySpace,
    *,
    scratch: Sequence[int] = (),
    start: Sequence[int | None] = (),
    goal: int = 0,
    rng: np.random.Generator,
    deadline: float = math.inf,
    iterations: int | None = 200,
) -> tuple[int | None, ...]:
    """Search for a packing of all blocks, then for one of least peak.

    All orders and fits are tried; from the best of them on, blocks that did not fit
    below the best peak so far move up in the order, as in squeaky wheel optimization
    (Joslin and Clements, JAIR 10, 1999).

    Args:
        blocks: What to place.
        memory: Its capacity, alignment and reserved ranges are kept to.
        scratch: Bytes, from offset 0, that nothing may take at each instruction.
        start: Offsets that are known to be allowed; the answer is no worse. ``None``
            where there are none yet.
        goal: A peak in bytes that is good enough; the capacity if any packing is.
        rng: Moves blocks at random.
        deadline: In seconds of ``time.monotonic()``.
        iterations: The most packings that are tried; ``None``: no limit.

    Returns:
        The offset of each block in bytes; if no packing held all blocks, of the one
        that holds the most bytes, with ``None`` for the others.
    """
    packer = Packer(blocks, memory, scratch)
    most = math.inf if iterations is None else iterations
    search = _Search(packer, goal, deadline, most)
    starts: list[tuple[Ints, Fit]] = []
    if len(start):
        known = np.array([NOWHERE if x is None else x for x in start], np.int64)
        search.take(known)
        last = np.where(known == NOWHERE, MAX_BYTES, known)
        starts.append((np.argsort(last, kind="stable"), Fit.FIRST))
    starts += [(packer.sort(order), fit) for order, fit in product(Order, Fit)]
    ranking = _try_all(search, starts)
    for i in cycle(ranking):
        if search.is_over:
            break
        search.squeak(*starts[i], rng)
    assert search.best is not None  # the first packing is tried whatever the limits
    return as_offsets(search.best.offsets)


def _try_all(search: _Search, starts: Sequence[tuple[Ints, Fit]]) -> list[int]:
    """Which orders and fits pack best, of those for which there was time."""
    costs = []
    for order, fit in starts:
        if search.is_over:
            break
        costs.append(search.place(order, fit).cost)
    return sorted(range(len(costs)), key=costs.__getitem__)
