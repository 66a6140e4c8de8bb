"""The allocations of stays, and their order in a map."""

from __future__ import annotations

import pytest
from named_problems import CHAIN, W, problem, reads

from hybridalloc.allocating import (
    allocate,
    allocate_cross_program,
    head_and_tail,
    in_queue_order,
)
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.stays import Lifetime, Stay

FETCHED, LEFT = Origin.PREFETCHED, Origin.CROSS_PROGRAM
BEHIND = problem((W,), (), (), (reads(0),), (reads(0),))


def stay_of(of: Problem, buffer: int, first: int, last: int) -> Stay:
    stay = Lifetime(of.program, Loops(of.program), buffer).stay(first, last, None)
    assert stay is not None
    return stay


def test_what_is_written_is_ready_at_once() -> None:
    one = allocate(stay_of(CHAIN, 1, 0, 1), 8, (0, 2))
    assert one == Allocation(1, 8, 0, 2, Origin.PRODUCED, ready=0)


def test_what_is_copied_is_ready_as_the_stay_begins() -> None:
    stay = stay_of(BEHIND, 0, 0, 1)
    slices = Slice(4, 1), Slice(4, 0)
    one = allocate(stay, 0, (0, 4), slices=slices)
    assert one == Allocation(0, 0, 0, 4, FETCHED, ready=2, slices=slices)


def test_an_eviction_is_taken_over() -> None:
    one = allocate(stay_of(CHAIN, 3, 0, 0), 0, (2, 3), eviction=Eviction(3, 3))
    assert one.eviction == Eviction(3, 3)


def test_what_the_previous_run_leaves_is_ready_and_its_tail_only_at_the_end() -> None:
    stay = stay_of(BEHIND, 0, 0, 1)
    assert allocate_cross_program(stay, 4, [(0, 2), (3, 4)]) == (
        Allocation(0, 4, 0, 2, LEFT, ready=0),
        Allocation(0, 4, 3, 4, LEFT, ready=4),
    )


@pytest.mark.parametrize(
    ("head", "tail", "spans"),
    [
        (2, 5, [(0, 2), (5, 9)]),
        (2, 3, [(0, 2), (3, 9)]),
        (2, 2, [(0, 9)]),
        (2, 9, [(0, 9)]),
        (2, -1, [(0, 9)]),
    ],
)
def test_there_is_a_tail_if_it_begins_after_the_head_and_before_the_end(
    head: int, tail: int, spans: list[tuple[int, int]]
) -> None:
    assert head_and_tail(head, tail, 9) == spans


def test_a_map_is_ordered_by_start_then_by_when_copies_are_due() -> None:
    in_order = (
        Allocation(5, 0, 0, 9),
        Allocation(4, 0, 1, 9, FETCHED, ready=2),
        Allocation(3, 0, 1, 6, FETCHED, ready=3),
        Allocation(0, 0, 1, 7, FETCHED, ready=3),
        Allocation(1, 0, 1, 7, FETCHED, ready=3),
        Allocation(0, 0, 2, 3),
    )
    assert in_queue_order(reversed(in_order)) == in_order
