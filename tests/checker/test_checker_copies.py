"""The checker: evictions, outstanding copies, and the cross-program prefetch."""

from __future__ import annotations

from dataclasses import replace

from checker_cases import (
    IDLE,
    IO,
    V,
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
from hybridalloc.target import CopyEngine

READ_TWICE = problem(IDLE, reads(W), IDLE, reads(W))
"""Four instructions; 1 and 3 read the input w."""


def test_eviction_is_issued_after_the_last_write() -> None:
    twice = problem(writes(X), updates(X), IDLE, IDLE)
    only = violation(twice, produced(X, 0, 4, evicted=(1, 4)))
    assert (only.rule, only.instruction) == (Rule.EVICTION, 1)
    assert "from point 1 on, but instruction 1 (i1) writes it" in only.message
    assert valid(twice, produced(X, 0, 4, evicted=(2, 4)))


def test_eviction_waits_for_the_prefetch() -> None:
    only = violation(READ_TWICE, fetched(W, 0, 3, 4, evicted=(2, 4)))
    assert only.rule is Rule.EVICTION
    assert "from point 2 on" in only.message
    assert "due at point 3" in only.message
    assert valid(READ_TWICE, fetched(W, 0, 3, 4, evicted=(3, 4)))


def test_eviction_waits_for_a_slice_issued_at_its_point() -> None:
    late = fetched(W, 0, 3, 4, evicted=(3, 4), slices=((4, 0), (4, 3)))
    assert rules(READ_TWICE, late) == [Rule.EVICTION]


ONE_COPY = CopyEngine(max_outstanding_prefetches=1, max_outstanding_evictions=1)


def test_outstanding_prefetches_are_limited() -> None:
    few = problem(IDLE, IDLE, reads(W), IDLE, reads(V), IDLE, engine=ONE_COPY)
    only = violation(few, fetched(W, 0, 2, 6), fetched(V, 1, 4, 6, 8))
    assert (only.rule, only.instruction) == (Rule.OUTSTANDING, 1)
    assert only.allocations == (0, 1)
    assert "at point 1 2 prefetches are outstanding" in only.message
    assert "the target allows 1" in only.message
    assert valid(few, fetched(W, 0, 2, 6), fetched(V, 2, 4, 6, 8))  # one is due at 2


def test_prefetch_due_at_once_is_outstanding_at_its_point() -> None:
    few = problem(IDLE, IDLE, reads(W), IDLE, reads(V), IDLE, engine=ONE_COPY)
    at_once = fetched(W, 2, 2, 6)
    assert rules(few, at_once, fetched(V, 1, 4, 6, 8)) == [Rule.OUTSTANDING]
    assert valid(few, at_once, fetched(V, 3, 4, 6, 8))


def test_each_run_of_points_with_too_many_copies_is_reported_once() -> None:
    few = problem(*[reads(W, V)] * 9, engine=ONE_COPY)
    double = [fetched(W, s, s + 2, s + 3, o) for s in (0, 5) for o in (0, 8)]
    assert [v.instruction for v in found(few, *double)] == [0, 5]


def test_each_slice_is_an_outstanding_prefetch() -> None:
    few = problem(IDLE, IDLE, reads(W), engine=ONE_COPY)
    only = violation(few, fetched(W, 0, 2, 3, slices=((4, 0), (4, 1))))
    assert (only.rule, only.instruction) == (Rule.OUTSTANDING, 1)
    assert valid(few, fetched(W, 0, 2, 3, slices=((8, 0),)))


def test_outstanding_evictions_are_limited_apart_from_prefetches() -> None:
    few = problem(writes(X), writes(Y), IDLE, reads(W), IDLE, engine=ONE_COPY)
    x, w = produced(X, 0, 4, evicted=(1, 4)), fetched(W, 1, 3, 4, 16)
    only = violation(few, x, produced(Y, 1, 5, 8, evicted=(3, 5)), w)
    assert (only.rule, only.instruction) == (Rule.OUTSTANDING, 3)
    assert "at point 3 2 evictions" in only.message
    assert valid(few, x, produced(Y, 1, 5, 8, evicted=(4, 5)), w)


def test_cross_program_prefetch_is_held_or_fetched_again_in_the_tail() -> None:
    few = replace(ONE_COPY, max_outstanding_prefetches=0)  # its copy does not count
    program = problem(reads(W), IDLE, IDLE, reads(W), engine=few)
    assert valid(program, kept(W, 0, 4))
    assert valid(program, kept(W, 0, 1), kept(W, 2, 4, ready=4))


def test_cross_program_prefetch_has_one_of_the_two_forms() -> None:
    wrong: dict[str, list[tuple[Allocation, ...]]] = {
        "one allocation [0, 4)": [(kept(W, 0, 2),), (kept(W, 2, 4, ready=4),)],
        "ready at point 0": [(kept(W, 0, 4, ready=1),)],
        "at point 4 in the tail": [(kept(W, 0, 1), kept(W, 2, 4, ready=3))],
        "at one offset": [(kept(W, 0, 1), kept(W, 2, 4, offset=8, ready=4))],
    }
    for expected, maps in wrong.items():
        for allocations in maps:
            only = violation(READ_TWICE, *allocations)
            assert only.rule is Rule.CROSS_PROGRAM
            assert expected in only.message
            assert "allocation 0 of buffer w" in only.message


def test_cross_program_prefetches_are_limited() -> None:
    only = violation(READ_TWICE, kept(W, 0, 4), kept(V, 0, 4, offset=8))
    assert only.rule is Rule.CROSS_PROGRAM
    assert only.allocations == (0, 1)
    assert "2 inputs" in only.message
    assert "allows 1" in only.message


def test_cross_program_prefetch_is_of_an_input_that_stays() -> None:
    only = violation(problem(reads(IO)), kept(IO, 0, 1))
    assert only.rule is Rule.CROSS_PROGRAM
    assert "buffer io is of a buffer that is an output" in only.message
    only = violation(problem(reads(W), updates(W)), kept(W, 0, 2))
    assert "instruction 1 (i1) writes" in only.message
    only = violation(problem(IDLE), kept(X, 0, 1))
    assert "no input" in only.message
