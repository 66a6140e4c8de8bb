"""Ordering: in which order best fit finds a place for every block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.packing.block import Block
from hybridalloc.packing.kernel import NOWHERE
from hybridalloc.packing.order import Order
from hybridalloc.packing.pack import Fit, Packer, as_offsets
from hybridalloc.target import MemorySpace


@dataclass(frozen=True, slots=True)
class Ordering:
    """Blocks in an order, and the places that best fit gives them in it."""

    order: tuple[int, ...]
    """Indices of blocks, the first to be placed first."""
    offsets: tuple[int | None, ...]
    """Bytes, for each block; ``None`` where there is no place."""


def best_fit_order(
    blocks: Sequence[Block],
    memory: MemorySpace,
    *,
    scratch: Sequence[int] = (),
    rng: np.random.Generator,
    iterations: int = 100,
) -> Ordering:
    """Search for an order in which best fit places all blocks.

    From the best of the usual orders on, what finds no place moves to the front.

    Args:
        blocks: What to place.
        memory: Its capacity, alignment and reserved ranges are kept to.
        scratch: Bytes, from offset 0, that nothing may take at each instruction.
        rng: Says how far it moves.
        iterations: The most orders that are tried beside the usual ones.

    Returns:
        The order that leaves the fewest bytes without a place.
    """
    packer = Packer(blocks, memory, scratch)
    sizes = packer.blocks.top

    def left(order: np.ndarray) -> tuple[int, np.ndarray]:
        offsets = packer.place(order, Fit.BEST)
        return int(sizes[offsets == NOWHERE].sum()), offsets

    orders = [packer.sort(order) for order in Order]
    best, order = min(((left(x), x) for x in orders), key=lambda found: found[0][0])
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    for _ in range(iterations):
        if best[0] == 0:
            break
        trial = np.argsort(rank, kind="stable")
        found = left(trial)
        if found[0] < best[0]:
            best, order = found, trial
        without = np.flatnonzero(found[1] == NOWHERE)
        rank[without] -= rng.uniform(0, len(order), len(without))
    return Ordering(tuple(order.tolist()), as_offsets(best[1]))
