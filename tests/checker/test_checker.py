"""The checker: each rule about space, broken once and almost broken."""

from __future__ import annotations

import random
from dataclasses import replace

from checker_cases import (
    BUFFERS,
    HALF,
    IDLE,
    W,
    X,
    Y,
    fetched,
    found,
    kept,
    problem,
    produced,
    reads,
    rules,
    updates,
    valid,
    violation,
    writes,
)

from hybridalloc.checker import Rule
from hybridalloc.memory_map import Allocation
from hybridalloc.program import Memory
from hybridalloc.target import CopyEngine

READ_TWICE = problem(IDLE, reads(W), IDLE, reads(W))
"""Four instructions; 1 and 3 read the input w."""
WRITE_READ = problem(IDLE, writes(X), reads(X), IDLE)
"""Four instructions; 1 writes the temporary x and 2 reads it."""


def test_empty_map_is_valid() -> None:
    assert valid(READ_TWICE)


def test_buffer_must_exist() -> None:
    only = violation(READ_TWICE, fetched(17, 0, 1, 4))
    assert (only.rule, only.allocations) == (Rule.BUFFER, (0,))
    assert "buffer 17" in only.message
    assert "6 buffers" in only.message


def test_buffer_must_not_be_pinned_to_slow_memory() -> None:
    slow = replace(BUFFERS[W], memory=Memory.SLOW)
    pinned = problem(IDLE, reads(W), buffers=(slow, *BUFFERS[1:]))
    only = violation(pinned, fetched(W, 0, 1, 2, 4))
    assert only.rule is Rule.BUFFER
    assert "allocation 0 of buffer w ([0, 2) at offset 4)" in only.message
    assert valid(pinned)


def test_fixed_offset_is_kept() -> None:
    fixed = replace(BUFFERS[W], offset=8)
    placed = problem(IDLE, reads(W), buffers=(fixed, *BUFFERS[1:]))
    only = violation(placed, fetched(W, 0, 1, 2, 4))
    assert only.rule is Rule.BUFFER
    assert "offset 4) is not at the buffer's fixed offset 8" in only.message
    assert valid(placed, fetched(W, 0, 1, 2, 8))


def test_buffer_pinned_to_fast_memory_has_each_access_there() -> None:
    fast = replace(BUFFERS[W], memory=Memory.FAST)
    pinned = problem(IDLE, reads(W), IDLE, reads(W), buffers=(fast, *BUFFERS[1:]))
    only = violation(pinned, fetched(W, 0, 1, 3))  # [1, 3) serves 1, but not 3
    assert (only.rule, only.instruction) == (Rule.PINNED, 3)
    assert "buffer w" in only.message
    assert "instruction 3 (i3)" in only.message
    assert violation(pinned, fetched(W, 0, 2, 4)).instruction == 1  # not ready
    assert valid(pinned, fetched(W, 0, 1, 4))
    assert valid(pinned, fetched(W, 0, 1, 4), fetched(W, 1, 1, 2, 8))  # one within it


def test_allocation_ends_by_the_last_point() -> None:
    only = violation(READ_TWICE, fetched(W, 0, 1, 5))
    assert only.rule is Rule.RANGE
    assert "[0, 5)" in only.message
    assert "last point, 4" in only.message
    assert valid(READ_TWICE, fetched(W, 0, 1, 4))


def test_produced_allocation_starts_at_a_whole_access() -> None:
    for start in (0, 1):  # nothing, a read
        only = violation(READ_TWICE, produced(W, start, 4))
        assert (only.rule, only.instruction) == (Rule.RANGE, start)
        assert f"instruction {start} (i{start}) does not write" in only.message
    assert valid(WRITE_READ, produced(X, 1, 3))


def test_offset_is_given() -> None:
    only = violation(WRITE_READ, produced(X, 1, 3, offset=None))
    assert only.rule is Rule.OFFSET
    assert "without an offset" in only.message


def test_offset_is_a_multiple_of_the_alignment() -> None:
    only = violation(WRITE_READ, produced(X, 1, 3, offset=6))
    assert only.rule is Rule.OFFSET
    assert "offset 6) is not at a multiple of the alignment, 4" in only.message


def test_allocation_ends_within_capacity() -> None:
    only = violation(WRITE_READ, produced(X, 1, 3, offset=28))  # 28 + 8 = 36 > 32
    assert only.rule is Rule.OFFSET
    assert "byte 36" in only.message
    assert "capacity of 32" in only.message
    assert valid(WRITE_READ, produced(X, 1, 3, offset=24))  # 24 + 8 = 32


def test_reserved_ranges_stay_free() -> None:
    guarded = problem(IDLE, writes(X), reads(X), reserved=((12, 16),))
    for offset in (8, 12):  # [8, 16) and [12, 20) touch [12, 16)
        only = violation(guarded, produced(X, 1, 3, offset))
        assert only.rule is Rule.RESERVED
        assert f"bytes [{offset}, {offset + 8})" in only.message
        assert "[12, 16)" in only.message
    assert valid(guarded, produced(X, 1, 3, 4))
    assert valid(guarded, produced(X, 1, 3, 16))


def test_scratch_of_the_spanned_instructions_stays_free() -> None:
    busy = problem(IDLE, writes(X), reads(X), IDLE, scratch=(32, 4, 8, 32))
    only = violation(busy, produced(X, 1, 3, 4))  # 2 needs [0, 8); 1 only [0, 4)
    assert (only.rule, only.instruction) == (Rule.RESERVED, 2)
    assert "bytes [4, 12), but instruction 2 (i2) needs [0, 8)" in only.message
    assert valid(busy, produced(X, 1, 3, 8))  # 0 and 3 are not spanned


def test_overlap_is_shared_bytes_at_a_shared_time() -> None:
    both = problem(writes(X), writes(Y), reads(X), reads(Y))
    only = violation(both, produced(X, 0, 3), produced(Y, 1, 4, 4))
    assert (only.rule, only.allocations) == (Rule.OVERLAP, (0, 1))
    assert "allocation 0 of buffer x ([0, 3) at offset 0)" in only.message
    assert "allocation 1 of buffer y ([1, 4) at offset 4)" in only.message
    assert "share bytes [4, 8) during instructions [1, 3)" in only.message
    assert valid(both, produced(X, 0, 3), produced(Y, 1, 4, 8))  # [0, 8), [8, 16)


def test_space_is_free_at_the_end_of_an_allocation() -> None:
    one_then_other = problem(writes(X), reads(X), writes(Y), reads(Y))
    assert valid(one_then_other, produced(Y, 2, 4), produced(X, 0, 2))
    assert rules(one_then_other, produced(Y, 2, 4), produced(X, 0, 3)) == [Rule.OVERLAP]


def test_every_pair_that_overlaps_is_reported() -> None:
    rng = random.Random(0)
    instructions = [writes(X, Y)] * 12
    allocations = []
    for _ in range(60):
        start = rng.randrange(11)
        end = rng.randrange(start + 1, 13)
        allocations.append(produced(rng.choice((X, Y)), start, end, rng.randrange(25)))
    pairs = {
        (i, j)
        for j, b in enumerate(allocations)
        for i, a in enumerate(allocations[:j])
        if a.start < b.end and b.start < a.end and _near(a, b)
    }
    reported = [
        violation.allocations
        for violation in found(problem(*instructions), *allocations)
        if violation.rule is Rule.OVERLAP
    ]
    assert len(reported) == len(pairs) > 100
    assert set(reported) == pairs


def _near(one: Allocation, two: Allocation) -> bool:
    """Whether two buffers of 8 bytes share one."""
    assert one.offset is not None
    assert two.offset is not None
    return abs(one.offset - two.offset) < 8


def test_slice_takes_its_space_at_its_own_issue() -> None:
    sharing = problem(writes(HALF), IDLE, reads(HALF), IDLE, IDLE, reads(W))
    sliced = fetched(W, 1, 5, 6, slices=((4, 1), (4, 3)))
    assert valid(sharing, sliced, produced(HALF, 0, 3, 4))  # bytes [4, 8) until 3
    only = violation(sharing, sliced, produced(HALF, 0, 4, 4))
    assert only.rule is Rule.OVERLAP
    assert "share bytes [4, 8) during instructions [3, 4)" in only.message
    unsliced = fetched(W, 1, 5, 6)
    assert rules(sharing, unsliced, produced(HALF, 0, 3, 4)) == [Rule.OVERLAP]


def test_slices_add_up_to_the_buffer() -> None:
    only = violation(READ_TWICE, fetched(W, 0, 1, 4, slices=((4, 0), (8, 0))))
    assert only.rule is Rule.SLICES
    assert "12 bytes in all, expected the buffer's 8" in only.message
    assert valid(READ_TWICE, fetched(W, 0, 1, 4, slices=((4, 0), (4, 0))))


def test_slices_but_the_last_are_aligned() -> None:
    only = violation(READ_TWICE, fetched(W, 0, 1, 4, slices=((6, 0), (2, 0))))
    assert only.rule is Rule.SLICES
    assert "slice 0 of 6 bytes" in only.message
    odd = (replace(BUFFERS[W], size=6), *BUFFERS[1:])
    assert valid(
        problem(IDLE, reads(W), buffers=odd),
        fetched(W, 0, 1, 2, slices=((4, 0), (2, 0))),
    )


def test_slices_are_no_more_than_the_target_allows() -> None:
    unsliced = problem(IDLE, reads(W), engine=CopyEngine(max_slices=1))
    only = violation(unsliced, fetched(W, 0, 1, 2, slices=((4, 0), (4, 0))))
    assert only.rule is Rule.SLICES
    assert "2 slices, but the target allows 1" in only.message
    assert valid(unsliced, fetched(W, 0, 1, 2, slices=((8, 0),)))


def test_no_map_is_too_broken_to_be_checked() -> None:
    program = problem(reads(W), writes(X), updates(W), reads(X), loops=((1, 3),))
    reported = rules(
        program,
        fetched(99, 0, 1, 400, offset=None),
        fetched(W, 300, 350, 400, offset=None, evicted=(360, 400)),
        fetched(W, 0, 200, 300, 4000, slices=((1, 0), (2, 0), (3, 100), (70, 200))),
        fetched(W, 2, 4, 300, offset=None),
        produced(X, 250, 300, offset=3, evicted=(260, 270)),
        kept(W, 2, 500),
    )
    assert set(reported) >= {
        Rule.BUFFER,
        Rule.RANGE,
        Rule.OFFSET,
        Rule.SLICES,
        Rule.STALE_PREFETCH,
        Rule.STALE_ALLOCATION,
        Rule.CROSS_PROGRAM,
        Rule.LOOP_COPY,
    }
    assert reported == [rule for rule in Rule if rule in reported]
