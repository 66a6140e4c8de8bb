"""Packings are searched for, and found again from the same seed."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from packings import SCRATCH, blocks, clashes, memories, memory

from hybridalloc.packing.block import Block
from hybridalloc.packing.order import Order
from hybridalloc.packing.pack import Fit, Packer, pack
from hybridalloc.packing.repack import repack
from hybridalloc.target import MemorySpace


def stay(size: int, start: int, end: int) -> Block:
    return Block(((0, size, start, end),))


def random_blocks(count: int) -> list[Block]:
    rng = np.random.default_rng(18)
    starts, lengths = rng.integers(0, 60, count), rng.integers(1, 20, count)
    sizes = rng.integers(1, 30, count)
    return [
        stay(int(size), int(start), int(start + length))
        for size, start, length in zip(sizes, starts, lengths, strict=True)
    ]


def test_a_search_finds_what_no_order_packs() -> None:
    """195 bytes are live at most; the best of the orders needs 204."""
    some, free = random_blocks(40), memory(None, alignment=1)
    packer = Packer(some, free)
    peaks = [
        packer.peak(packer.place(packer.sort(order), fit))
        for order in Order
        for fit in Fit
    ]
    assert (packer.bound(), min(peaks)) == (195, 204)
    full = memory(195, alignment=1)
    for space in (free, full):
        found = repack(some, space, rng=np.random.default_rng(0), iterations=2000)
        assert None not in found
        assert clashes(some, found, full, scratch=()) == []


def test_the_same_seed_gives_the_same_packing() -> None:
    some, space = random_blocks(40), memory(None, alignment=1)
    one, two = (
        repack(some, space, rng=np.random.default_rng(7), iterations=300)
        for _ in range(2)
    )
    assert one == two


def test_a_goal_that_is_reached_ends_the_search() -> None:
    """The known offsets reach it: they are handed back as they are."""
    two, known = [stay(4, 0, 2), stay(4, 1, 3)], (20, 40)
    rng = np.random.default_rng(0)
    assert repack(two, memory(48), start=known, goal=48, rng=rng) == known
    assert set(repack(two, memory(48), start=known, rng=rng)) == {0, 4}


def test_what_is_known_is_kept_when_there_is_no_time() -> None:
    two, rng = [stay(4, 0, 2), stay(4, 1, 3)], np.random.default_rng(0)
    late = -math.inf
    assert repack(two, memory(48), start=(20, 40), rng=rng, deadline=late) == (20, 40)
    assert repack(two, memory(48), rng=rng, deadline=late) == (None, None)


def test_of_what_cannot_fit_the_most_bytes_are_placed() -> None:
    """Of 8, 6 and 4 bytes at one time, 12 bytes hold 8 and 4."""
    three = [stay(8, 0, 2), stay(6, 0, 2), stay(4, 0, 2)]
    found = repack(three, memory(12), rng=np.random.default_rng(0), iterations=200)
    assert found[1] is None
    assert sorted(x for x in found if x is not None) in ([0, 4], [0, 8])


@given(st.lists(blocks(), max_size=8), memories())
def test_a_search_keeps_to_the_rules_and_is_no_worse_than_one_order(
    drawn: list[Block], space: MemorySpace
) -> None:
    found = repack(
        drawn, space, scratch=SCRATCH, rng=np.random.default_rng(0), iterations=40
    )
    assert clashes(drawn, found, space) == []
    once = pack(drawn, space, scratch=SCRATCH)
    assert left(drawn, found) <= left(drawn, once)


def left(packed: list[Block], offsets: tuple[int | None, ...]) -> int:
    """The bytes of what has no place."""
    return sum(
        block.size
        for block, offset in zip(packed, offsets, strict=True)
        if offset is None
    )
