"""Blocks are placed one by one, in the gaps that hold them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packings import SCRATCH, blocks, clashes, memories, memory

from hybridalloc.packing.block import Block
from hybridalloc.packing.order import Order
from hybridalloc.packing.pack import Fit, Packer, pack
from hybridalloc.target import MemorySpace


def stay(size: int, start: int, end: int, offset: int | None = None) -> Block:
    return Block(((0, size, start, end),), offset)


def test_the_smallest_gap_is_taken_or_the_lowest() -> None:
    """The fixed ones leave [0, 8), [16, 20) and [24, 28): the latter two are tied."""
    taken = [stay(8, 0, 4, 8), stay(4, 0, 4, 20), stay(4, 0, 4, 28), stay(4, 1, 3)]
    assert pack(taken, memory(48), fit=Fit.FIRST)[-1] == 0
    assert pack(taken, memory(48), fit=Fit.BEST)[-1] == 16


def test_above_everything_is_the_last_resort_of_best_fit() -> None:
    """[24, 28) is smaller than [8, 16), but it is above everything."""
    taken = [stay(8, 0, 4, 0), stay(8, 0, 4, 16), stay(4, 0, 4)]
    assert pack(taken, memory(28), fit=Fit.BEST) == (0, 16, 8)


def test_a_rectangle_is_in_the_way_only_while_it_lasts() -> None:
    assert pack([stay(8, 0, 2), stay(8, 2, 4)], memory(8)) == (0, 0)
    assert pack([stay(8, 0, 3), stay(8, 2, 4)], memory(8)) == (0, None)


def test_the_order_decides_what_finds_no_place() -> None:
    """The long block has 4 x 9 = 36 byte-instructions; the large one 8 x 2 = 16."""
    both = [stay(4, 0, 9), stay(8, 4, 6)]
    assert pack(both, memory(8), order=Order.SIZE) == (None, 0)
    for order in (Order.DURATION, Order.AREA, Order.REPACKER):
        assert pack(both, memory(8), order=order) == (0, None)


def test_a_slice_leaves_the_space_above_it_until_it_comes() -> None:
    """The upper half comes at 4; until then [4, 8) above the lower half is free."""
    sliced = Block(((0, 4, 0, 6), (4, 8, 4, 6)), offset=0)
    assert pack([sliced, stay(4, 0, 4)], memory(8)) == (0, 4)
    assert pack([sliced, stay(4, 0, 5)], memory(8)) == (0, None)


def test_the_lower_part_of_a_block_may_come_later_than_the_upper() -> None:
    """[0, 4) is taken until 4; the block's lower half may stand there from then."""
    sliced = Block(((0, 4, 4, 6), (4, 8, 0, 6)))
    assert pack([stay(4, 0, 4, 0), sliced], memory(8)) == (0, 0)
    assert pack([stay(4, 0, 5, 0), sliced], memory(8)) == (0, None)


def test_spans_of_one_block_share_an_offset() -> None:
    """At 0 the first span would do, at 4 the second: 8 is the first that suits both."""
    head_and_tail = Block(((0, 4, 0, 2), (0, 4, 6, 8)))
    others = [stay(4, 1, 2, 4), stay(4, 6, 7, 0)]
    assert pack([*others, head_and_tail], memory(12)) == (4, 0, 8)


def test_a_fixed_place_is_kept_and_taken_first() -> None:
    """The large block would be placed first, at 0."""
    assert pack([stay(8, 0, 2), stay(4, 0, 2, 0)], memory(12)) == (4, 0)
    assert pack([stay(4, 0, 2, 3)], memory(12)) == (None,)
    assert pack([stay(4, 0, 2, 12)], memory(12)) == (None,)
    assert pack([stay(4, 0, 2, 0), stay(4, 1, 3, 0)], memory(12)) == (0, None)


def test_scratch_and_reserved_ranges_are_in_the_way() -> None:
    """Scratch takes [0, 3) at instruction 2: from there on the next multiple is 4."""
    scratch = (0, 0, 3)
    four = memory(12, reserved=((4, 8),), alignment=4)
    low, high = stay(4, 0, 2), stay(4, 2, 3)
    assert pack([low], four, scratch=scratch) == (0,)
    assert pack([high], four, scratch=scratch) == (8,)
    assert pack([stay(4, 9, 12)], four, scratch=scratch) == (0,)
    assert pack([stay(4, 2, 3, 0)], four, scratch=scratch) == (None,)


def test_what_has_no_bytes_meets_nothing() -> None:
    assert pack([stay(8, 0, 2, 0), Block(((0, 0, 0, 2),))], memory(8)) == (0, 0)
    assert pack([Block(())], memory(8)) == (0,)
    assert pack([], memory(8)) == ()


def test_memory_without_a_capacity_holds_everything() -> None:
    assert pack([stay(2**40, 0, 2), stay(2**41, 0, 2)], memory(None)) == (2**41, 0)


def test_a_block_that_cannot_be_says_so() -> None:
    with pytest.raises(ValueError, match=r"bytes \[4, 2\) during instructions \[0, 1"):
        Block(((4, 2, 0, 1),))
    with pytest.raises(ValueError, match=r"instructions \[3, 3\)"):
        Block(((0, 2, 3, 3),))
    with pytest.raises(ValueError, match="offset -1 is negative"):
        Block((), -1)


def test_orders_rank_by_what_is_there_at_one_time() -> None:
    """Of a [0, 2), b [1, 4) and c [3, 6), with 6, 2 and 4 bytes, b meets both others.

    Together: a with b 8, b with all 12, c with b 6; times their own sizes 48, 24, 24.
    The most live bytes: a and b 8 at instruction 1, c 6 at instruction 3.
    """
    packer = Packer([stay(6, 0, 2), stay(2, 1, 4), stay(4, 3, 6)], memory(None))
    expected = {
        Order.SIZE: [0, 2, 1],
        Order.DURATION: [2, 1, 0],
        Order.AREA: [0, 2, 1],
        Order.CONFLICTS: [1, 0, 2],
        Order.CONFLICT_BYTES: [1, 0, 2],
        Order.CONFLICT_AREA: [0, 2, 1],
        Order.BREADTH: [0, 1, 2],
        Order.REPACKER: [2, 1, 0],
    }
    assert {order: packer.sort(order).tolist() for order in Order} == expected


def test_the_bound_counts_scratch_and_the_padding_between_blocks() -> None:
    """Two blocks of 5 bytes at multiples of 4 need 8 + 5, and scratch of 3 more."""
    two = [stay(5, 0, 2), stay(5, 1, 3)]
    aligned = memory(None, alignment=4)
    assert Packer(two, aligned).bound() == 13
    assert Packer(two, aligned, (0, 3)).bound() == 16
    assert Packer([stay(5, 0, 2, 40)], aligned).bound() == 45
    assert Packer([], aligned).bound() == 0


def test_nothing_is_placed_after_the_deadline() -> None:
    packer = Packer([stay(4, 0, 2)], memory(8))
    order = np.arange(1)
    assert packer.place(order, Fit.FIRST, deadline=-math.inf).tolist() == [-1]


@given(st.lists(blocks(), max_size=12), memories(), st.data())
def test_packings_keep_to_the_rules(
    drawn: list[Block], drawn_memory: MemorySpace, data: st.DataObject
) -> None:
    order, fit = data.draw(st.sampled_from(Order)), data.draw(st.sampled_from(Fit))
    offsets = pack(drawn, drawn_memory, scratch=SCRATCH, order=order, fit=fit)
    assert clashes(drawn, offsets, drawn_memory) == []


@given(st.lists(blocks(), min_size=1, max_size=8), memories(), st.sampled_from(Fit))
def test_a_block_without_a_place_has_none_whatever_the_fit(
    drawn: list[Block], drawn_memory: MemorySpace, fit: Fit
) -> None:
    """The last block in the order is tried at every multiple of the alignment."""
    packer = Packer(drawn, drawn_memory, SCRATCH)
    order = packer.sort(Order.SIZE)
    order = order[np.argsort(packer.blocks.fixed[order] < 0, kind="stable")]
    offsets = list(packer.place(order, fit).tolist())
    known = [None if x < 0 else x for x in offsets]
    last = int(order[-1])
    fixed = drawn[last].offset
    tried = range(0, drawn_memory.capacity or 0, drawn_memory.alignment)
    possible = []
    for offset in (0, *tried) if fixed is None else (fixed,):
        if not clashes(
            drawn, [*known[:last], offset, *known[last + 1 :]], drawn_memory
        ):
            possible.append(offset)
    assert (known[last] in possible) if possible else known[last] is None
    if fit is Fit.FIRST and possible:
        assert known[last] == possible[0]
