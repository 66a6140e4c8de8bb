"""In how many parts a copy is made, and which of several possible copies it is.

``big`` has 16 bytes: four parts of 4, each with a place of its own, when cut.
"""

from __future__ import annotations

import pytest
from msa_cases import BIG, NONE, assignment, machine, of, reads, solve, stays

from hybridalloc.baselines.msa.assignment import Failure
from hybridalloc.baselines.msa.piece import Piece
from hybridalloc.baselines.msa.prefetch import Prefetch, Wish, find_prefetch
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer
from hybridalloc.target import Target

SLICED = {"sliced_prefetch_min_bytes": 1}
EIGHTS = tuple(Buffer(f"eight {i}", 8, is_input=True) for i in range(3))
LARGE = Buffer("large", 32, is_input=True)
"""All of fast memory."""


def late(
    *seconds: float, buffers: tuple[Buffer, ...] = (BIG,), on: Target | None = None
) -> Problem:
    """``big`` is read after instructions of so many seconds."""
    steps = (*[NONE] * len(seconds), (reads(0, 16),))
    return of(buffers, *steps, compute=dict(enumerate(seconds)), on=on)


def wish(end: int, *, earliest: int = -1, saved: float = 0.0) -> Wish:
    """For the first buffer, which is needed at one time only."""
    return Wish(0, earliest, end, keep=(end,), body=None, saved=saved, extra=0)


def parts(of: Problem, **options: object) -> list[tuple[int, int]]:
    """(bytes, issue) of each part of the only prefetch, in order of address."""
    (allocation,) = solve(of, sliced_prefetch_min_bytes=1, **options).allocations
    return [(x.size, x.issue) for x in allocation.slices]


def test_a_copy_is_cut_into_equal_parts_issued_evenly_in_time() -> None:
    """From after 0 until 5 run 32 s, the overlap preferred: a part each 8 s."""
    assert parts(late(8, 8, 8, 8, 8)) == [(4, 1), (4, 2), (4, 3), (4, 4)]


def test_parts_take_nearly_twice_their_bandwidth() -> None:
    """1.8 * 4 = 7.2 s for each part: without them the copy is one."""
    assert parts(late(*[7.3] * 4)) == [(4, 0), (4, 1), (4, 2), (4, 3)]
    assert parts(late(*[7.1] * 4)) == []


@pytest.mark.parametrize(
    ("most", "sizes"), [(1, []), (2, [8, 8]), (3, [8, 8]), (4, [4] * 4), (9, [4] * 4)]
)
def test_there_are_as_many_parts_as_allowed_of_whole_units(
    most: int, sizes: list[int]
) -> None:
    """Of four units of 4 bytes, three parts would be of 2, 2 and 0."""
    seconds = (8, 8, 8, 8, 8)
    chosen = parts(late(*seconds), sliced_prefetch_max_slices=most)
    assert [size for size, _ in chosen] == sizes
    if most < 9:
        chosen = parts(late(*seconds, on=machine(slices=most)))
        assert [size for size, _ in chosen] == sizes


def test_the_last_part_is_what_is_left() -> None:
    odd = Buffer("odd", 14, is_input=True)
    assert [size for size, _ in parts(late(8, 8, 8, 8, buffers=(odd,)))] == [4, 4, 4, 2]


def test_small_copies_are_not_cut() -> None:
    assert stays(late(8, 8, 8, 8, 8), sliced_prefetch_min_bytes=17) == ["big 1>5-6"]
    allocation = solve(late(8, 8, 8, 8, 8), sliced_prefetch_min_bytes=17).allocations[0]
    assert allocation.slices == ()


def test_the_highest_part_comes_first_where_only_that_finds_room() -> None:
    """[0, 8) is taken until 2, and [24, 32) all the time."""
    shared = assignment(late(8, 8, 8, 8, 8, buffers=(BIG, *EIGHTS)), **SLICED)
    shared.heap.put(Piece(1, 0, 0, 2))
    shared.heap.put(Piece(2, 24, 0, 5))
    shared.heap.put(Piece(3, 16, 0, 5))
    found = find_prefetch(shared, wish(5))
    assert isinstance(found, Prefetch)
    assert (found.offset, found.parts) == (0, ((4, 4), (4, 3), (4, 2), (4, 1)))


def test_in_parts_at_any_time_rather_than_whole_at_the_preferred_one() -> None:
    """48 s are preferred, from after 1 on; but then a fifth copy is under way."""
    long = late(*[16.0] * 5, on=machine(prefetches=4))
    for options, expected in (
        ({}, ((16, 2),)),
        (SLICED, ((4, 3), (4, 3), (4, 4), (4, 4))),
    ):
        shared = assignment(long, preferred_overlap_to_async_copy_ratio=3.0, **options)
        shared.prefetches.add((-1, 2, 0.5))
        found = find_prefetch(shared, wish(5))
        assert isinstance(found, Prefetch)
        assert found.parts == expected


def test_where_parts_never_do_the_first_whole_copy_is_made() -> None:
    """Of three copies at most, four parts are too many."""
    assert parts(late(8, 8, 8, 8, 8, on=machine(prefetches=3))) == []


def test_a_start_without_room_rules_out_all_earlier_ones() -> None:
    """After 0, the preferred time, the place is taken, as after 1; after -1 as well."""
    shared = assignment(late(8, 8, 8, 8, 8, buffers=(BIG, LARGE)))
    shared.heap.put(Piece(1, 0, 1, 1))
    found = find_prefetch(shared, wish(5))
    assert isinstance(found, Prefetch)
    assert found.start == 2


def test_it_is_said_why_there_is_no_copy() -> None:
    """No room; no bandwidth; and, with no overlap at all, nothing that would help."""
    full = assignment(late(8, 8, 8, 8, 8, buffers=(BIG, LARGE)))
    full.heap.put(Piece(1, 0, 5, 5))
    assert find_prefetch(full, wish(5)) is Failure.OUT_OF_MEMORY
    busy = assignment(late(8, 8))
    busy.prefetches.add((-1, 2, 16.0))
    assert find_prefetch(busy, wish(2)) is Failure.OUT_OF_COPIES
    assert find_prefetch(assignment(late(8)), wish(1)) is Failure.NONE


def test_first_in_first_out_order_may_be_enforced() -> None:
    """A copy issued after 0 would overtake one issued before and due later."""
    for enforce, start in ((False, 1), (True, 0)):
        shared = assignment(late(8, 8, 8, 8, 8, 8), enforce_prefetch_fifo_order=enforce)
        shared.prefetches.add((-1, 6, 0.5))
        found = find_prefetch(shared, wish(5))
        assert isinstance(found, Prefetch)
        assert found.start == start
