"""Which accesses may stay in fast memory together, and what that takes."""

from __future__ import annotations

from math import log2

import pytest
from named_problems import (
    DONATED,
    OUT,
    W,
    X,
    Y,
    problem,
    reads,
    updates,
    writes,
)

from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Loop
from hybridalloc.stays import Lifetime, Stay, cross_program_stays

IDLE: tuple[Access, ...] = ()


def stays(of: Problem, buffer: int = 0) -> dict[tuple[int, int], Stay]:
    """The stays of a buffer by their ends, each in the innermost loop possible."""
    found: dict[tuple[int, int], Stay] = {}
    for stay in Lifetime(of.program, Loops(of.program), buffer).stays():
        found.setdefault((stay.start, stay.end), stay)
    return found


def test_a_weight_may_stay_from_any_access_to_any_later_one() -> None:
    found = stays(problem((W,), (reads(0),), IDLE, (reads(0),), (reads(0),)))
    assert set(found) == {(0, 1), (0, 3), (0, 4), (2, 3), (2, 4), (3, 4)}
    assert all(not x.produced and not x.evicts for x in found.values())
    assert {x.earliest for x in found.values()} == {0}


def test_what_is_read_later_is_evicted_before_that() -> None:
    """Written at 0, so evicted from point 1 on, and in slow memory at 3."""
    stay = stays(problem((X,), (writes(0),), IDLE, IDLE, (reads(0),)))[0, 1]
    assert (stay.produced, stay.issue, stay.deadline) == (True, 1, 3)


def test_a_prefetch_comes_after_the_last_write() -> None:
    stay = stays(problem((X,), (writes(0),), IDLE, (reads(0),)))[2, 3]
    assert (stay.produced, stay.earliest, stay.evicts) == (False, 1, False)


def test_what_is_overwritten_next_needs_no_eviction() -> None:
    found = stays(problem((X,), (writes(0),), (reads(0),), (writes(0),), (reads(0),)))
    assert not found[0, 2].evicts
    assert found[0, 1].evicts


def test_outputs_are_evicted_by_the_end() -> None:
    found = stays(problem((OUT, W), (writes(0),), (reads(1),), (reads(0),)))
    assert (found[0, 3].issue, found[0, 3].deadline) == (1, 3)


def test_an_output_written_last_can_still_be_evicted_at_the_end() -> None:
    found = stays(problem((OUT,), IDLE, (writes(0),)))
    assert (found[1, 2].issue, found[1, 2].deadline) == (2, 2)


def looping(*instructions: tuple[Access, ...], buffer: Buffer = W) -> Problem:
    """One buffer; instructions 1 and 2 are a loop."""
    return problem((buffer,), *instructions, loops=(Loop(1, 3, trip_count=4),))


def test_a_stay_that_leaves_a_loop_spans_it_with_all_accesses_there() -> None:
    found = stays(looping((reads(0),), (reads(0),), (reads(0),), (reads(0),)))
    assert found[0, 3].last == 2
    assert (0, 2) not in found
    assert (2, 4) not in found


def test_a_stay_may_lie_within_a_loop() -> None:
    stay = stays(looping(IDLE, IDLE, (reads(0),), IDLE))[2, 3]
    assert stay.body == Loop(1, 3, trip_count=4)
    assert stay.earliest == 1


def test_nothing_is_prefetched_within_a_loop_for_its_first_instruction() -> None:
    """At point 1 the copy would be outside the loop and happen once."""
    found = stays(looping(IDLE, (reads(0),), IDLE, IDLE))
    assert set(found) == {(1, 3)}
    assert found[1, 3].body is None


def test_a_weight_that_a_loop_updates_does_not_stay_across_it() -> None:
    """At the loop's entry its slow copy would be valid, at the back edge stale."""
    found = stays(looping(IDLE, IDLE, (updates(0),), IDLE, buffer=DONATED))
    assert set(found) == set()


def test_a_value_updated_before_a_loop_may_be_updated_within_it() -> None:
    found = stays(looping((updates(0),), (updates(0),), IDLE, IDLE, buffer=DONATED))
    assert set(found) == {(0, 1), (0, 3)}
    assert (found[0, 3].issue, found[0, 3].deadline) == (3, 4)


def test_what_a_loop_leaves_is_evicted_within_its_body() -> None:
    """Written at 1 in each iteration, read at 3 after the last one."""
    found = stays(looping(IDLE, (writes(0),), IDLE, (reads(0),), buffer=X))
    assert (found[1, 2].issue, found[1, 2].deadline) == (2, 3)
    assert (1, 4) not in found


def test_what_a_loop_writes_last_cannot_be_evicted_within_its_body() -> None:
    found = stays(looping(IDLE, IDLE, (writes(0),), (reads(0),), buffer=X))
    assert (2, 3) not in found


def test_what_the_next_iteration_reads_is_evicted_within_the_body() -> None:
    found = stays(
        problem(
            (X, Y),
            (writes(0),),
            (reads(0),),
            (writes(0),),
            IDLE,
            loops=(Loop(1, 4, trip_count=4),),
        )
    )
    assert (found[2, 3].issue, found[2, 3].deadline) == (3, 4)
    assert not found[0, 4].evicts


@pytest.mark.parametrize("count", [17, 40, 1000])
def test_of_many_accesses_the_choice_of_runs_grows_little_faster_than_they(
    count: int,
) -> None:
    """About four runs of each access in each of log2(count) lengths."""
    of = problem((W,), *((reads(0),) for _ in range(count)))
    found = stays(of)
    assert sum(end - start for start, end in found) < 6 * count * log2(count)
    assert {(t, t + 1) for t in range(count)} <= set(found)
    assert (0, count) in found


def test_of_many_accesses_few_runs_are_tried_as_cross_program_prefetches() -> None:
    of = problem((W,), *((reads(0),) for _ in range(1000)))
    found = cross_program_stays(of, Loops(of.program))
    assert len(found) < 100
    assert {1, 1000} <= {stay.end for stay in found}


def test_only_inputs_that_are_neither_written_nor_outputs_cross_programs() -> None:
    of = problem((W, X, DONATED), (reads(0), writes(1)), (reads(0), updates(2)))
    found = cross_program_stays(of, Loops(of.program))
    assert [(x.buffer, x.start, x.end) for x in found] == [(0, 0, 1), (0, 0, 2)]
