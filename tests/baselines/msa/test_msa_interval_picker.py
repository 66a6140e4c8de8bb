"""When to begin a copy, counted by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msa_cases import machine, of, picker, reads, ticks, writes

from hybridalloc.baselines.msa.interval_picker import typical_size
from hybridalloc.program import Buffer, Loop

TEN = ticks(*[1.0] * 12)
"""Twelve instructions of a second each."""
MIB = 2**20
USUAL: Mapping[str, float] = {}


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [(0, 3, 2 + 3), (-1, 3, 1 + 2 + 3), (2, 3, 0), (3, 3, 0), (0, 5, 2 + 3 + 4 + 5)],
)
def test_an_interval_is_what_runs_between_its_ends(
    start: int, end: int, seconds: float
) -> None:
    assert picker(ticks(1, 2, 3, 4, 5, 6)).interval(start, end) == seconds


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        (0, 7, 5 + 25 + 25 + 5 + 5 + 1),
        (1, 4, (25 + 25) / 5),
        (1, 5, (25 + 25 + 5) / 5),
        (1, 6, 25 + 25 + 5 + 5),
        (2, 3, 0),
        (2, 4, 25 / 5),
        (4, 7, 5 + 1),
    ],
)
def test_a_loop_counts_five_times_for_what_is_outside(
    start: int, end: int, seconds: float
) -> None:
    """For XLA [1, 6) and [2, 4) within it run 5 times; of the loop around all, one."""
    loops = (Loop(1, 6, trip_count=7), Loop(2, 4, trip_count=9))
    program = ticks(*[1.0] * 8, loops=loops)
    assert picker(program).interval(start, end) == seconds


def test_how_often_a_loop_runs_is_an_option() -> None:
    program = ticks(*[1.0] * 4, loops=(Loop(1, 3, trip_count=7),))
    assert picker(program, while_execution_count=3).interval(0, 3) == 3 + 3


def test_a_buffer_stays_for_less_than_eight_copies_of_all_fast_memory() -> None:
    """Fast memory has 32 bytes: 8 * 32 = 256 s."""
    waits = picker(ticks(1, 255, 1, 256, 1))
    assert waits.may_stay(0, 2)
    assert not waits.may_stay(2, 4)


def test_the_latest_start_leaves_time_for_the_copy() -> None:
    """From s to 11 there are 10 - s seconds, and the copy takes 4."""
    assert picker(TEN).latest_start(4, 0, 11, None, saved=0.0) == 6
    assert picker(TEN).latest_start(4, 7, 11, None, saved=0.0) == 6, "none"
    twice = picker(TEN, min_overlap_to_async_copy_ratio=2.0)
    assert twice.latest_start(4, 0, 11, None, saved=0.0) == 2


def test_what_the_use_saves_counts_as_overlap() -> None:
    assert picker(TEN).latest_start(4, 0, 11, None, saved=1.5) == 7


def test_the_typical_size_or_any_other_may_stand_for_all_sizes() -> None:
    """Without reads and writes the typical size is 0, so that any start will do."""
    options = "prefetch_interval_picker_size_override"
    assert picker(TEN, **{options: 2}).latest_start(4, 0, 11, None, 0.0) == 8
    assert picker(TEN, **{options: -1}).latest_start(4, 0, 11, None, 0.0) == 10


def test_faster_copies_start_later() -> None:
    fast = picker(TEN, async_copy_bandwidth_scaling_factor=2.0)
    assert fast.copy_s(4) == 2.0
    assert fast.latest_start(4, 0, 11, None, saved=0.0) == 8


def test_no_copy_starts_in_a_loop_that_it_ends_outside() -> None:
    """At 6 there are 2 s left; 5, 4 and 3 are in the loop, and at 2 there are 17."""
    program = ticks(*[1.0] * 10, loops=(Loop(3, 6, trip_count=2),))
    assert picker(program).latest_start(3, 0, 9, None, saved=0.0) == 2


def test_a_copy_within_a_loop_starts_in_its_body() -> None:
    """Of [1, 8) without [3, 5): from 2 on run 5 + 5 trips' seconds, 5 and 6."""
    outer, inner = Loop(1, 8, trip_count=2), Loop(3, 5, trip_count=2)
    within = picker(ticks(*[1.0] * 10, loops=(outer, inner)))
    assert within.latest_start(4, 1, 7, outer, saved=0.0) == 2
    assert within.latest_start(1, 1, 7, outer, saved=0.0) == 5


def starts(size: int, options: Mapping[str, float] = USUAL, end: int = 11) -> list[int]:
    """From time 0 on, in the order in which they are tried."""
    return list(picker(TEN, **options).starts(size, 0, end, None, saved=0.0))


def test_later_and_earlier_starts_are_tried_in_turn() -> None:
    """8 s are preferred for a copy of 4, which leaves 2; after 6 there are too few."""
    assert starts(4) == [2, 3, 1, 4, 0, 5, 6]


def test_no_start_is_tried_that_is_too_early() -> None:
    """0.25 * 32 = 8 s are the most; then 2 is the first, and preferred."""
    early = {"max_overlap_to_mem_size_async_copy_ratio": 0.25}
    assert starts(4, early) == [2, 3, 4, 5, 6]


def test_the_latest_start_is_tried_even_if_it_is_too_early() -> None:
    never = {"max_overlap_to_mem_size_async_copy_ratio": 0.0}
    assert starts(4, never) == [6]


def test_without_time_for_the_copy_there_are_no_starts() -> None:
    assert starts(4, end=4) == []


def test_the_preferred_start_has_the_nearest_overlap() -> None:
    """1.4 * 4 = 5.6 s: 6 are nearer than 5."""
    nearest = {"preferred_overlap_to_async_copy_ratio": 1.4}
    assert starts(4, nearest)[0] == 10 - 6


def test_when_no_later_starts_are_left_earlier_ones_come_in_steps() -> None:
    """After 201 s at least 203.01, then 206.04, 209.07, 212.1: steps of 1 %."""
    long = ticks(*[1.0] * 400, on=machine(capacity=64))
    tried = picker(long, preferred_overlap_to_async_copy_ratio=1.0)
    intervals = [398 - s for s in tried.starts(200, 0, 399, None, saved=0.0)]
    assert intervals[:6] == [200, 201, 204, 207, 210, 213]


def test_parts_of_a_copy_are_issued_evenly_in_time() -> None:
    """From after 0 until before 9 run 8 s: a part each 2 s."""
    assert picker(TEN).spread(0, 9, 4, None) == [1, 3, 5, 7]


def test_a_part_waits_for_the_instruction_that_runs_when_it_is_its_turn() -> None:
    """Of 8 s, 5 pass in the second instruction: after it come all but the first."""
    uneven = picker(ticks(1, 5, 1, 1, 1, 1))
    assert uneven.spread(0, 5, 4, None) == [1, 1, 1, 3]


def test_parts_are_not_issued_in_a_loop_within() -> None:
    """Of 1 + 20 + 3 s each part has 6: the last two would be issued in the loop."""
    program = ticks(*[1.0] * 10, loops=(Loop(2, 6, trip_count=2),))
    assert picker(program).spread(0, 9, 4, None) == [1, 2, 2, 2]


def test_an_eviction_wants_twice_the_time_of_its_copy() -> None:
    """8 s run between 0 and 9."""
    assert picker(TEN).eviction_end(4, 0, 11, retry=0) == 9
    assert picker(TEN).eviction_end(4, 0, 5, retry=0) == 6, "one past the limit"


def test_an_eviction_that_is_tried_again_wants_more() -> None:
    """(1 + 2) * 2 * 1 = 6 s run between 0 and 7."""
    assert picker(TEN).eviction_end(1, 0, 11, retry=0) == 3
    assert picker(TEN).eviction_end(1, 0, 11, retry=1) == 7


def test_the_typical_size_is_the_median_of_the_larger_values() -> None:
    """Twice the MiB written, and the inputs as they are: 2, 3, 6; the rest is small."""
    buffers = (
        Buffer("w", 3 * MIB, is_input=True),
        Buffer("x", MIB),
        Buffer("y", 3 * MIB),
        Buffer("small", 8, is_input=True),
    )
    program = of(
        buffers, (reads(0), writes(1, MIB)), (reads(1), reads(3), writes(2, 3 * MIB))
    )
    assert typical_size(program.program) == 3 * MIB


def test_of_two_typical_sizes_the_larger_counts_and_small_ones_if_all_are() -> None:
    buffers = (Buffer("w", 8, is_input=True), Buffer("x", 5))
    assert typical_size(of(buffers, (reads(0), writes(1, 5))).program) == 10
    assert typical_size(ticks(1.0).program) == 0
