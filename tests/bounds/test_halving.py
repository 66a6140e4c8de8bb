"""Blocks of instructions, each half of the one above it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hybridalloc.bounds.halving import Halving

COUNTS = st.integers(1, 40)


@given(COUNTS)
@settings(max_examples=50)
def test_every_block_comes_after_the_one_above_it_and_is_half_of_that(
    count: int,
) -> None:
    tree = Halving(count)
    seen = set()
    for block in tree.blocks():
        low, high = tree.span(block)
        assert low < count
        assert block == 1 or block // 2 in seen
        seen.add(block)
        if high - low > 1:
            middle = (low + high) // 2
            assert tree.span(2 * block) == (low, middle)
            assert tree.span(2 * block + 1) == (middle, high)
    assert [tree.span(tree.leaf(t)) for t in range(count)] == [
        (t, t + 1) for t in range(count)
    ]
    assert {tree.leaf(t) for t in range(count)} <= seen


def fewest(tree: Halving, block: int, low: int, high: int) -> int:
    """Blocks that it takes, found from above."""
    first, last = tree.span(block)
    if last <= low or high <= first:
        return 0
    if low <= first and last <= high:
        return 1
    halves = (2 * block, 2 * block + 1)
    return sum(fewest(tree, half, low, high) for half in halves)


@given(st.data(), COUNTS)
@settings(max_examples=50)
def test_a_cover_is_exactly_the_range_in_the_fewest_blocks(
    data: st.DataObject, count: int
) -> None:
    tree = Halving(count)
    low = data.draw(st.integers(0, count))
    high = data.draw(st.integers(low, count))
    cover = tree.cover(low, high)
    covered = [t for block in cover for t in range(*tree.span(block))]
    assert covered == list(range(low, high))
    assert len(cover) == fewest(tree, 1, low, high)
