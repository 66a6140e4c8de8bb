"""What msa decides for each use, on programs that are walked through by hand.

A copy of 8 bytes takes 8 s, and is best beside 16 s of other instructions.
"""

from __future__ import annotations

import pytest
from msa_cases import NONE, machine, of, reads, stays, writes
from named_problems import DONATED, NAMED, OUT, V, W, X, Y, updates

from hybridalloc.program import Loop


def test_what_is_written_in_fast_memory_stays_for_its_uses() -> None:
    assert stays(of((X,), (writes(0),), (reads(0),), NONE, (reads(0),), NONE)) == [
        "x 0-4"
    ]


def test_a_weight_is_prefetched_beside_what_runs_before_its_use() -> None:
    """After 0 there are 20 s left, and after -1, before the program, 40."""
    assert stays(of((W,), NONE, NONE, (reads(0),), compute={0: 20, 1: 20})) == [
        "w 1>2-3"
    ]


def test_the_first_instruction_may_hide_a_copy() -> None:
    assert stays(of((W,), NONE, (reads(0),), compute={0: 8})) == ["w 0>1-2"]


def test_a_copy_that_would_stall_leaves_the_use_in_slow_memory() -> None:
    """7 s and the 6 that the use is faster by are enough overlap; 7 s do not hide 8."""
    assert stays(of((W,), NONE, (reads(0),), compute={0: 7})) == []


def test_a_prefetched_weight_stays_for_later_uses() -> None:
    twice = of((W,), NONE, (reads(0),), NONE, (reads(0),), compute={0: 8})
    assert stays(twice) == ["w 0>1-4"]


WAITING = of(
    (X,),
    *((writes(0),), (reads(0),), NONE, NONE, NONE, (reads(0),)),
    compute={2: 100, 3: 100, 4: 100},
)
"""x waits for 300 s, and may wait for 8 * 32 = 256."""


def test_what_waits_too_long_is_evicted_and_fetched_again() -> None:
    """The copy out begins when x is written; 8 + 100 s run beside it before 3.

    The copy in begins as late as it can: after 4 nothing is left, after 3 100 s.
    """
    assert stays(WAITING) == ["x 0-3 out 1>3", "x 4>5-6"]


def test_what_may_wait_longer_stays() -> None:
    assert stays(WAITING, max_overlap_to_mem_size_async_copy_ratio=10.0) == ["x 0-6"]


def test_an_output_is_evicted_while_it_is_used() -> None:
    """8 s at 1 are too few for the 16 wanted; with those at 2 there are 108."""
    steps = (writes(0),), (reads(0),), NONE, NONE
    assert stays(of((OUT,), *steps, compute={2: 100})) == ["out 0-3 out 1>3"]


def test_an_output_of_the_last_instruction_is_written_to_slow_memory() -> None:
    assert stays(of((OUT,), NONE, (writes(0),), compute={0: 100})) == []


def test_an_eviction_ends_early_where_its_place_is_taken() -> None:
    """24 s are wanted: 8 at 1, 12 at 2 and y's 8 at 3. But y, read twice, is there."""
    steps = (writes(0),), (reads(0),), NONE, (writes(1),), (reads(1),), (reads(1),)
    both = of((OUT, Y), *steps, NONE, compute={2: 12, 6: 99}, on=machine(8))
    assert stays(both, preferred_overlap_to_async_copy_ratio=3.0) == [
        "out 0-2 out 1>2",
        "y 3-6",
    ]


def test_updates_in_place_keep_one_place() -> None:
    assert stays(NAMED["an update in place"]) == ["x 0-4"]


def test_an_updated_input_is_fetched_and_then_evicted() -> None:
    """It is written at 1, and used until 3; from 2 on 20 s run beside the copy out."""
    steps = NONE, (updates(0),), NONE, (reads(0),), NONE
    donated = of((DONATED,), *steps, compute={0: 20, 2: 20, 4: 20})
    assert stays(donated) == ["donated 0>1-4 out 2>3"]


def test_a_value_is_not_needed_when_it_is_overwritten() -> None:
    """Each value of x lives from its writing to its last reading."""
    steps = (writes(0),), (reads(0),), NONE, (writes(0),), (reads(0),)
    assert stays(of((X,), *steps)) == ["x 0-2", "x 3-5"]


def test_a_weight_of_a_loop_is_there_before_the_loop() -> None:
    """All is copied before 2, by XLA's time before its last instruction, 1."""
    steps = NONE, NONE, (reads(0),), NONE, (reads(0),)
    loop = Loop(2, 4, trip_count=5)
    assert stays(of((W,), *steps, compute={0: 20, 1: 8}, loops=(loop,))) == ["w 0>2-5"]


def test_a_copy_may_begin_and_end_within_each_trip() -> None:
    steps = NONE, (writes(1),), NONE, (reads(0), reads(1)), NONE
    loop = Loop(1, 4, trip_count=5)
    of_loop = of((W, X), *steps, compute={2: 20}, loops=(loop,))
    assert stays(of_loop) == ["x 1-4", "w 2>3-4"]


def test_a_copy_may_span_a_loop() -> None:
    """Before the loop there is no time; w is in slow memory there, and then copied."""
    steps = NONE, (reads(0),), NONE, (reads(0),)
    loop = Loop(1, 3, trip_count=5)
    assert stays(of((W,), *steps, compute={0: 20}, loops=(loop,))) == ["w 1>3-4"]


def test_a_value_carried_by_a_loop_keeps_its_place_throughout() -> None:
    assert stays(NAMED["a value carried by a loop"]) == ["x 0-4", "y 1-3"]


def test_a_loop_does_not_write_what_was_fetched_for_it() -> None:
    """The slow copy would become stale there; w, which is only read, is fetched."""
    steps = NONE, NONE, (updates(0), reads(1)), NONE, (reads(0),)
    loop = Loop(2, 4, trip_count=5)
    looping = of((DONATED, W), *steps, compute={0: 50, 1: 50}, loops=(loop,))
    assert stays(looping) == ["w 0>2-4"]


@pytest.mark.parametrize("what", ["prefetches", "evictions"])
def test_copies_that_the_engine_does_not_take_are_not_made(what: str) -> None:
    none = machine(**{what: 0})  # type: ignore[arg-type]
    steps = NONE, (writes(1), reads(0)), (reads(1),), NONE
    both = of((W, OUT), *steps, compute={0: 20, 2: 100}, on=none)
    assert stays(both) == (["out 1-3 out 2>3"] if what == "prefetches" else ["w 0>1-2"])


@pytest.mark.parametrize(("first", "fetched"), [(6, {"w", "v"}), (5, {"w"})])
def test_copies_share_the_bandwidth(first: float, fetched: set[str]) -> None:
    """Both weights are read after so many seconds and 10 more; two copies take 16."""
    steps = NONE, NONE, (reads(0), reads(1))
    found = stays(of((W, V), *steps, compute={0: first, 1: 10}))
    assert {text.split()[0] for text in found} == fetched


def test_without_room_a_buffer_is_in_slow_memory() -> None:
    """There is room for one of two; x, which saves as much, is there longer."""
    steps = (writes(0),), (writes(1),), (reads(1),), (reads(0),)
    assert stays(of((X, Y), *steps, on=machine(8))) == ["x 0-4"]


def test_a_copy_begins_later_where_there_is_no_room_earlier() -> None:
    """All of fast memory is taken until 1; w, best fetched after 0, waits till then."""
    steps = (writes(1),), (reads(1),), NONE, NONE, (reads(0),)
    fetched = of((W, X), *steps, compute={2: 9, 3: 9}, on=machine(8))
    assert stays(fetched) == ["x 0-2", "w 2>4-5"]


@pytest.mark.parametrize(("retries", "due"), [(1, 3), (2, 7), (3, 11)])
def test_an_eviction_without_bandwidth_takes_longer_when_tried_again(
    retries: int, due: int
) -> None:
    """2 s are preferred for 1 byte, then (1 + 2) * 2 and (1 + 4) * 2; it needs 8.

    The last try is not held to the bandwidth.
    """
    steps = (writes(0),), (reads(0, 1),), *[NONE] * 12
    ticking = of((OUT,), *steps, compute=dict.fromkeys(range(1, 14), 1.0))
    found = stays(
        ticking, prefetch_interval_picker_size_override=1, max_retries=retries
    )
    assert found == [f"out 0-{due} out 1>{due}"]
