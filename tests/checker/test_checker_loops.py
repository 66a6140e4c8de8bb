"""The checker: copies and state in loops, as the unrolled program has them."""

from __future__ import annotations

from checker_cases import (
    IDLE,
    IO,
    W,
    X,
    fetched,
    found,
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
from hybridalloc.program import Access

LOOP = ((2, 6),)
"""The loop of most tests: instructions 2 to 5 of eight."""


def at(**accesses: tuple[Access, ...]) -> list[tuple[Access, ...]]:
    """Eight instructions, of which ``i3=...`` gives the accesses of instruction 3."""
    return [accesses.get(f"i{t}", IDLE) for t in range(8)]


WEIGHT = problem(*at(i4=reads(W), i7=reads(W)), loops=LOOP)
"""An input that the loop reads at 4, and later 7."""
CARRIED = problem(*at(i0=writes(X), i3=reads(X), i5=writes(X), i7=reads(X)), loops=LOOP)
"""A temporary that each iteration reads at 3 and writes anew at 5."""


def test_copy_within_the_body_is_made_in_every_iteration() -> None:
    assert valid(WEIGHT, fetched(W, 3, 4, 5))


def test_allocation_from_within_the_body_may_be_given_up_at_the_back_edge() -> None:
    assert valid(WEIGHT, fetched(W, 3, 4, 6))


def test_allocation_from_within_the_body_may_not_outlive_its_iteration() -> None:
    only = violation(WEIGHT, fetched(W, 3, 4, 7))
    assert (only.rule, only.instruction) == (Rule.LOOP_STATE, 6)
    assert "buffer w is live across the back edge of loop [2, 6)" in only.message
    assert "no place in fast memory at its entry" in only.message
    assert "offset 0 at the back edge" in only.message


def test_copy_may_span_the_loop() -> None:
    assert valid(WEIGHT, fetched(W, 1, 7, 8))


def test_copy_needed_in_a_loop_is_not_issued_before_it() -> None:
    only = violation(WEIGHT, fetched(W, 1, 4, 5))
    assert only.rule is Rule.LOOP_COPY
    assert "issued at point 1 and due at point 4" in only.message
    assert "loop [2, 6)" in only.message


def test_copy_issued_in_a_loop_is_due_in_it() -> None:
    assert violation(WEIGHT, fetched(W, 4, 7, 8)).rule is Rule.LOOP_COPY


def test_each_slice_is_a_copy_of_the_loop_rules() -> None:
    sliced = fetched(W, 1, 7, 8, slices=((4, 1), (4, 4)))  # [1, 7] spans, [4, 7] leaves
    assert violation(WEIGHT, sliced).rule is Rule.LOOP_COPY


def test_eviction_is_a_copy_of_the_loop_rules() -> None:
    before = problem(*at(i0=writes(X)), loops=LOOP)
    only = violation(before, produced(X, 0, 5, evicted=(1, 4)))
    assert only.rule is Rule.LOOP_COPY
    assert "the eviction of allocation 0" in only.message
    assert valid(before, produced(X, 0, 7, evicted=(1, 7)))


def test_copy_due_at_the_first_instruction_is_complete_before_the_loop() -> None:
    for start in (1, 2):
        assert valid(WEIGHT, fetched(W, start, 2, 8))
        only = violation(WEIGHT, fetched(W, start, 2, 5))  # not there at iteration 2
        assert only.rule is Rule.LOOP_STATE


def test_copy_from_the_first_instruction_into_the_body_belongs_to_the_body() -> None:
    assert valid(WEIGHT, fetched(W, 2, 4, 6))


def test_copy_from_the_first_to_the_last_point_spans_the_loop() -> None:
    assert valid(WEIGHT, fetched(W, 2, 6, 8))


def test_copy_from_the_body_to_the_last_point_belongs_to_the_body() -> None:
    only = violation(WEIGHT, fetched(W, 5, 6, 8))  # there at the back edge only
    assert only.rule is Rule.LOOP_STATE
    rewritten = problem(*at(i3=writes(W), i7=reads(W)), loops=LOOP)
    assert valid(rewritten, fetched(W, 5, 6, 8))  # no iteration needs the last one's


def test_copy_at_the_last_point_is_made_after_the_loop() -> None:
    assert valid(WEIGHT, fetched(W, 6, 6, 8))
    assert valid(WEIGHT, fetched(W, 6, 7, 8))


def test_carried_buffer_stays_at_one_offset() -> None:
    assert valid(CARRIED, produced(X, 0, 4), produced(X, 5, 8))
    only = violation(CARRIED, produced(X, 0, 4), produced(X, 5, 8, 8))
    assert (only.rule, only.allocations) == (Rule.LOOP_STATE, (0, 1))
    assert "offset 0 at its entry" in only.message
    assert "offset 8 at the back edge" in only.message


def test_carried_buffer_may_end_with_the_loop() -> None:
    unused = problem(*at(i0=writes(X), i3=reads(X), i5=writes(X)), loops=LOOP)
    first = produced(X, 0, 4)
    assert valid(unused, first, produced(X, 5, 6))
    assert violation(unused, first, produced(X, 5, 6, 8)).rule is Rule.LOOP_STATE


def test_carried_buffer_needs_its_place_in_the_next_iteration() -> None:
    slow_end = violation(CARRIED, produced(X, 0, 4, evicted=(1, 2)))
    assert slow_end.rule is Rule.LOOP_STATE
    assert "offset 0 at its entry but no place" in slow_end.message


def test_slow_copy_that_becomes_stale_in_the_body_was_valid_at_the_entry() -> None:
    updated = problem(*at(i3=updates(W)), loops=LOOP)
    only = violation(updated, fetched(W, 0, 1, 8))
    assert (only.rule, only.instruction) == (Rule.LOOP_STATE, 6)
    assert "buffer w" in only.message
    assert "a valid slow copy at its entry but a stale one" in only.message
    assert valid(updated, fetched(W, 0, 1, 8, evicted=(4, 6)))  # valid again at 6


def test_slow_copy_that_becomes_valid_in_the_body_was_stale_at_the_entry() -> None:
    kept = problem(*at(i0=writes(X), i3=reads(X)), loops=LOOP)
    only = violation(kept, produced(X, 0, 8, evicted=(4, 6)))
    assert only.rule is Rule.LOOP_STATE
    assert "a stale slow copy at its entry but a valid one" in only.message
    for outside in ((1, 2), (2, 6), (6, 7)):  # before, across and after the loop
        assert valid(kept, produced(X, 0, 8, evicted=outside))


def test_buffer_that_is_dead_across_the_back_edge_is_free() -> None:
    rewritten = problem(
        *at(i0=writes(X), i1=reads(X), i3=writes(X), i4=reads(X), i6=reads(X)),
        loops=LOOP,
    )
    assert valid(rewritten, produced(X, 0, 3, 8), produced(X, 3, 7))
    assert valid(rewritten, produced(X, 0, 2), produced(X, 3, 7, 16))


def test_prefetch_is_stale_in_the_second_iteration() -> None:
    rewritten = problem(*at(i0=writes(X), i4=writes(X), i5=reads(X)), loops=LOOP)
    second = produced(X, 4, 6)
    only = violation(rewritten, fetched(X, 2, 3, 4), second)
    assert only.rule is Rule.STALE_PREFETCH
    assert "in some iterations" in only.message
    assert valid(rewritten, fetched(X, 1, 2, 4), second)  # before the first one only
    assert valid(rewritten, fetched(X, 2, 2, 4), second)


def test_read_is_stale_in_the_second_iteration() -> None:
    second = produced(X, 5, 8)  # the first iteration still reads what 0 wrote
    assert rules(CARRIED, second) == [Rule.STALE_READ, Rule.LOOP_STATE]


def test_output_written_in_a_loop_is_evicted_in_it_or_after_it() -> None:
    made = problem(*at(i3=writes(IO)), loops=LOOP)
    assert valid(made, produced(IO, 3, 6, evicted=(4, 6)))
    assert valid(made, produced(IO, 3, 8, evicted=(6, 8)))
    assert violation(made, produced(IO, 3, 6)).rule is Rule.OUTPUT


NESTED = ((0, 8), (2, 5))
"""A loop around the whole run, and one within it."""


def test_copies_belong_to_the_innermost_body() -> None:
    inner = problem(*at(i4=reads(W)), loops=NESTED)
    assert valid(inner, fetched(W, 3, 4, 5))
    assert valid(
        inner, fetched(W, 1, 2, 6)
    )  # in each outer iteration, before the inner
    assert valid(inner, fetched(W, 0, 0, 8))  # once
    only = violation(inner, fetched(W, 1, 4, 5))
    assert only.rule is Rule.LOOP_COPY
    assert "loop [2, 5)" in only.message


def test_copy_across_an_inner_loop_stays_in_the_outer_body() -> None:
    late = problem(*at(i6=reads(W)), loops=((1, 7), (2, 5)))
    assert valid(late, fetched(W, 1, 6, 7))
    assert valid(late, fetched(W, 2, 5, 7))
    only = violation(late, fetched(W, 0, 6, 7))
    assert only.rule is Rule.LOOP_COPY
    assert "loop [1, 7)" in only.message


def test_next_use_may_be_in_the_next_iteration_of_the_outer_loop() -> None:
    allocation = fetched(W, 1, 1, 3)
    only = violation(problem(*at(i1=reads(W)), loops=NESTED), allocation)
    assert only.rule is Rule.LOOP_STATE
    assert "loop [2, 5)" in only.message
    assert valid(problem(*at(i1=reads(W)), loops=NESTED[1:]), allocation)


def test_next_use_may_be_beyond_the_outer_loop() -> None:
    nest = ((1, 7), (2, 5))  # each outer iteration writes x at 1: only the last counts
    allocation = produced(X, 1, 4, evicted=(2, 2))
    only = violation(problem(*at(i1=writes(X), i7=reads(X)), loops=nest), allocation)
    assert only.rule is Rule.LOOP_STATE
    assert "loop [2, 5)" in only.message
    assert valid(problem(*at(i1=writes(X)), loops=nest), allocation)


def test_use_in_the_rest_of_the_outer_body_decides_first() -> None:
    allocation = fetched(W, 1, 1, 3)
    rest_writes = problem(*at(i1=IDLE, i6=writes(W)), loops=NESTED)
    assert valid(rest_writes, allocation)
    rest_reads = problem(*at(i6=reads(W)), loops=NESTED)
    assert violation(rest_reads, allocation).rule is Rule.LOOP_STATE


def test_inner_loop_sees_what_the_outer_iteration_before_left() -> None:
    entries = problem(*at(i3=updates(W)), loops=NESTED)
    violations = found(entries, fetched(W, 0, 0, 8))
    assert {violation.rule for violation in violations} == {Rule.LOOP_STATE}
    assert [violation.instruction for violation in violations] == [5, 8]


def test_bodies_that_end_at_one_point_end_innermost_first() -> None:
    nest = ((1, 7), (3, 7))
    made = problem(*at(i4=writes(X), i7=reads(X)), loops=nest)
    assert valid(made, produced(X, 4, 7, evicted=(5, 7)))
    passed = problem(*at(i1=writes(X), i4=reads(X), i7=reads(X)), loops=nest)
    assert valid(passed, produced(X, 1, 7, evicted=(2, 7)))  # after the inner loop


def test_point_between_two_loops_ends_one_before_it_begins_the_other() -> None:
    pair = ((0, 4), (4, 8))
    passed = problem(*at(i1=writes(X), i6=reads(X)), loops=pair)
    evicted = produced(X, 1, 4, evicted=(2, 4))
    assert valid(passed, evicted, fetched(X, 4, 6, 7))
    assert valid(passed, evicted, fetched(X, 4, 4, 8))
    assert rules(passed, evicted, fetched(X, 3, 6, 7, 8)) == [
        Rule.STALE_PREFETCH,
        Rule.LOOP_COPY,
    ]
