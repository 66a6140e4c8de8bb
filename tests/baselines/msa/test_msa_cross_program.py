"""The input that the previous run leaves in fast memory, on hand-made programs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msa_cases import BIG, NONE, assignment, machine, of, reads, stays, words, writes
from named_problems import DONATED, V, W, updates

from hybridalloc.baselines.msa.cross_program import prefetch_across_programs
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Loop, Memory


def crossing(of: Problem, **options: object) -> list[str]:
    """The cross-program prefetches in words, as ``stays`` has them."""
    shared = assignment(of, **options)
    numbers, points = prefetch_across_programs(shared), len(of.program)
    pieces = [shared.heap.pieces[number] for number in numbers]
    return words(
        of, MemoryMap(tuple(x for piece in pieces for x in piece.allocations(points)))
    )


ONE = machine(crossing=1)


def test_it_is_the_largest_weight() -> None:
    steps = (reads(0),), (reads(1, 16),), (reads(2),)
    assert crossing(of((W, BIG, V), *steps, on=ONE)) == ["big ..3"]


def test_of_the_largest_it_is_the_one_that_is_used_up_first() -> None:
    assert crossing(of((W, V), (reads(1),), (reads(0),), on=ONE)) == ["v ..2"]


@pytest.mark.parametrize(
    ("buffer", "access"),
    [
        (replace(BIG, cross_program=False), reads(0, 16)),
        (replace(BIG, is_output=True), reads(0, 16)),
        (replace(BIG, is_input=False), writes(0, 16)),
        (replace(BIG, memory=Memory.SLOW), reads(0, 16)),
        (replace(BIG, size=33), reads(0, 33)),
        (BIG, updates(0)),
    ],
    ids=["activation", "output", "temporary", "excluded", "too large", "written"],
)
def test_it_is_nothing_that_changes_or_may_not_be_there(
    buffer: Buffer, access: Access
) -> None:
    assert crossing(of((buffer, W), (access,), (reads(1),), on=ONE)) == ["w ..2"]


def test_there_are_as_many_as_target_and_options_allow() -> None:
    weights = of((W, V), (reads(0), reads(1)))
    for allowed, most, count in ((0, 9, 0), (1, 9, 1), (9, 1, 1), (9, 9, 2)):
        on = replace(weights.target, cross_program_prefetches=allowed)
        both = replace(weights, target=on)
        found = crossing(both, max_cross_program_prefetches=most)
        assert len(found) == count


def waiting(last: float = 100.0, capacity: int = 16) -> Problem:
    """Of 24 bytes in all, w is read at 1; then there is time for other things."""
    steps = (updates(2),), (reads(0),), (reads(1),), NONE, NONE, NONE
    compute = {2: last, 3: 8.0, 4: 8.0, 5: 8.0}
    on = machine(capacity, crossing=1)
    return of((W, V, DONATED), *steps, compute=compute, on=on)


def test_it_gives_up_its_place_and_is_fetched_in_the_tail() -> None:
    """16 s are preferred before the last instruction: from 3 on there are just these.

    It is in use for 8 + 16 of 132 s, less than 0.6 of them.
    """
    assert crossing(waiting()) == ["w ..2", "w 2.."]


def test_it_stays_if_that_is_not_allowed() -> None:
    assert crossing(waiting(), enable_cross_program_prefetch_freeing=False) == ["w ..6"]


def test_it_stays_if_there_is_room_for_everything() -> None:
    assert crossing(waiting(capacity=24)) == ["w ..6"]
    assert crossing(waiting(capacity=20)) == ["w ..2", "w 2.."]


def test_it_stays_if_its_place_is_in_use_for_most_of_the_run() -> None:
    assert crossing(waiting(last=8)) == ["w ..6"], "24 of 40 s"
    assert crossing(waiting(last=9)) == ["w ..2", "w 2.."], "24 of 41 s"


def test_it_stays_if_there_is_no_time_to_fetch_it() -> None:
    """Only nothing runs between its last use and the last instruction."""
    late = of((W, V), (reads(1),), (reads(0),), NONE, on=machine(8, crossing=1))
    assert crossing(late) == ["v ..3"]


def test_it_is_used_until_a_loop_around_its_last_use_is_over() -> None:
    """48 and 16 of 204 s, as XLA takes [1, 3) to run 5 times."""
    steps = (updates(2),), (reads(0),), (reads(1),), NONE, NONE, NONE
    looping = of(
        (W, V, DONATED),
        *steps,
        compute={3: 100, 4: 16, 5: 8},
        loops=(Loop(1, 3, trip_count=2),),
        on=machine(16, crossing=1),
    )
    assert crossing(looping) == ["w ..3", "w 3.."]


def test_all_else_finds_room_beside_it() -> None:
    """It holds 16 of 20 bytes, so that w of 8 has no place."""
    steps = NONE, (reads(0), reads(1, 16)), NONE
    both = of((W, BIG), *steps, compute={0: 50}, on=machine(20, crossing=1))
    assert stays(both) == ["big ..3"]
