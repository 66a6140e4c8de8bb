"""The checker: stale reads, prefetches, allocations and outputs outside loops."""

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

LATE_READ = problem(writes(X), reads(X), IDLE, reads(X))
"""Instruction 0 writes the temporary x; 1 and 3 read it."""


def test_read_from_slow_memory_needs_an_eviction_first() -> None:
    only = violation(LATE_READ, produced(X, 0, 2))
    assert (only.rule, only.instruction) == (Rule.STALE_READ, 3)
    assert "instruction 3 (i3) accesses buffer x" in only.message
    assert valid(LATE_READ, produced(X, 0, 2, evicted=(1, 2)))
    assert valid(LATE_READ, produced(X, 0, 4))


def test_eviction_makes_the_slow_copy_valid_only_when_due() -> None:
    early = fetched(X, 1, 2, 4, 8)  # issued when the eviction, due at 2, is not done
    evicted = produced(X, 0, 2, evicted=(1, 2))
    only = violation(LATE_READ, evicted, early)
    assert (only.rule, only.allocations) == (Rule.STALE_PREFETCH, (1,))
    assert "issued at point 1 and due at point 2" in only.message
    assert valid(LATE_READ, evicted, fetched(X, 2, 3, 4, 8))


def test_eviction_due_at_once_is_done_after_the_prefetches_of_its_point() -> None:
    at_once = produced(X, 0, 2, evicted=(2, 2))
    assert rules(LATE_READ, at_once, fetched(X, 2, 3, 4)) == [Rule.STALE_PREFETCH]
    assert valid(LATE_READ, at_once, fetched(X, 3, 3, 4))


def test_eviction_from_before_a_write_leaves_the_slow_copy_stale() -> None:
    twice = problem(writes(X), updates(X), reads(X), IDLE, reads(X))
    too_early = produced(X, 0, 4, evicted=(1, 3))
    assert rules(twice, too_early) == [Rule.STALE_READ, Rule.EVICTION]


def test_update_in_slow_memory_needs_a_valid_slow_copy_too() -> None:
    updated = problem(writes(X), updates(X))
    only = violation(updated, produced(X, 0, 1))
    assert (only.rule, only.instruction) == (Rule.STALE_READ, 1)
    assert valid(updated, produced(X, 0, 2))


def test_whole_write_to_slow_memory_makes_its_copy_valid() -> None:
    rewritten = problem(writes(X), writes(X), reads(X))
    assert valid(rewritten, produced(X, 0, 1))


def test_every_stale_read_is_reported() -> None:
    reread = problem(writes(X), reads(X), reads(X))
    assert [v.instruction for v in found(reread, produced(X, 0, 1))] == [1, 2]


def test_prefetch_needs_a_valid_slow_copy() -> None:
    only = violation(LATE_READ, produced(X, 0, 2), fetched(X, 2, 3, 4))
    assert (only.rule, only.instruction) == (Rule.STALE_PREFETCH, 2)
    assert "allocation 1 of buffer x ([2, 4) at offset 0)" in only.message


def test_no_write_happens_while_a_prefetch_is_on_its_way() -> None:
    updated = problem(IDLE, updates(W), IDLE, reads(W))
    only = violation(updated, fetched(W, 1, 3, 4))
    assert (only.rule, only.instruction) == (Rule.STALE_PREFETCH, 1)
    assert "until point 3 while instruction 1 (i1) writes" in only.message
    assert valid(updated, fetched(W, 2, 3, 4))
    assert valid(updated, fetched(W, 0, 1, 4))


def test_each_slice_needs_a_valid_slow_copy_at_its_issue() -> None:
    evicted = produced(X, 0, 3, evicted=(1, 2))
    early = fetched(X, 1, 3, 4, 8, slices=((4, 2), (4, 1)))
    (only,) = found(LATE_READ, evicted, early)
    assert (only.rule, only.instruction) == (Rule.STALE_PREFETCH, 1)
    assert "the slice of allocation 1" in only.message
    late = fetched(X, 2, 3, 4, 8, slices=((4, 3), (4, 2)))
    assert valid(LATE_READ, evicted, late)


def test_refetch_while_the_old_copy_is_read_is_valid() -> None:
    reread = problem(reads(W), reads(W), reads(W), reads(W), reads(W))
    assert valid(reread, fetched(W, 0, 1, 4), fetched(W, 2, 3, 5, 8))


def test_write_makes_one_of_two_allocations_stale() -> None:
    updated = problem(IDLE, IDLE, IDLE, updates(W), reads(W))
    second = fetched(W, 1, 2, 5, 8)
    only = violation(updated, fetched(W, 0, 1, 4), second)
    assert (only.rule, only.instruction) == (Rule.STALE_ALLOCATION, 3)
    assert only.allocations == (0, 1)
    assert "allocation 0 of buffer w ([0, 4) at offset 0)" in only.message
    assert "allocation 1 of buffer w ([1, 5) at offset 8)" in only.message
    assert valid(updated, fetched(W, 0, 1, 3), second)


def test_producing_an_allocation_makes_another_one_stale() -> None:
    rewritten = problem(writes(X), reads(X), writes(X), reads(X))
    second = produced(X, 2, 4, 8)
    only = violation(rewritten, produced(X, 0, 3), second)
    assert (only.rule, only.instruction) == (Rule.STALE_ALLOCATION, 2)
    assert valid(rewritten, produced(X, 0, 2), second)


def test_output_must_be_evicted_by_the_end() -> None:
    made = problem(writes(IO), IDLE)
    only = violation(made, produced(IO, 0, 2, 4))
    assert (only.rule, only.instruction) == (Rule.OUTPUT, 2)
    assert "output buffer io" in only.message
    assert "point 2" in only.message
    assert valid(made, produced(IO, 0, 2, 4, evicted=(1, 2)))


def test_output_that_is_only_read_in_fast_memory_stays_valid() -> None:
    assert valid(problem(IDLE, reads(IO)), fetched(IO, 0, 1, 2))
