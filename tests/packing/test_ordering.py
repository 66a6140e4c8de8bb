"""An order is found in which best fit places everything."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from packings import SCRATCH, blocks, clashes, memories, memory

from hybridalloc.packing.block import Block
from hybridalloc.packing.ordering import best_fit_order
from hybridalloc.packing.pack import Fit, Packer
from hybridalloc.target import MemorySpace


def test_what_finds_no_place_moves_to_the_front() -> None:
    """Packings of 13 units that no usual order finds, and a search does."""
    random = np.random.default_rng(3)
    found = 0
    for _ in range(200):
        spans = np.sort(random.integers(0, 12, (8, 2)), axis=1)
        sizes = random.integers(1, 7, 8)
        some = [
            Block(((0, int(size), int(a), int(b) + 1),))
            for size, (a, b) in zip(sizes, spans, strict=True)
        ]
        usual, searched = (
            best_fit_order(some, memory(13), rng=random, iterations=n) for n in (0, 50)
        )
        found += None in usual.offsets and None not in searched.offsets
    assert found > 0


@given(st.lists(blocks(), max_size=8), memories(), st.integers(0, 9))
def test_best_fit_in_this_order_gives_these_places(
    some: list[Block], space: MemorySpace, iterations: int
) -> None:
    rng = np.random.default_rng(0)
    found = best_fit_order(some, space, scratch=SCRATCH, rng=rng, iterations=iterations)
    order = np.array(found.order, np.int64)
    again = Packer(some, space, SCRATCH).place(order, Fit.BEST)
    assert sorted(found.order) == list(range(len(some)))
    assert [-1 if x is None else x for x in found.offsets] == again.tolist()
    assert not clashes(some, found.offsets, space)
