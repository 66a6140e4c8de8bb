"""Which stays the allocations of a map are."""

from __future__ import annotations

from itertools import chain

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from named_problems import CHAIN, FASTEST, OUT, W, X, problem, reads, writes
from strategies import memory_maps, problems

from hybridalloc.checker import check
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Loop
from hybridalloc.recognition import Found, recognise

FETCHED, LEFT = Origin.PREFETCHED, Origin.CROSS_PROGRAM
THREE_READS = problem((W,), (reads(0),), (reads(0),), (reads(0),))


def found_in(of: Problem, *allocations: Allocation) -> list[Found]:
    loops = Loops(of.program)
    return list(recognise(of.program, loops, MemoryMap(allocations)))


def test_the_stays_of_a_map_come_by_buffer_with_the_accesses_they_serve() -> None:
    found = found_in(CHAIN, *FASTEST.allocations)
    stays = [(x.stay.buffer, x.stay.first, x.stay.last, x.is_usual) for x in found]
    assert stays == [(1, 0, 1, True), (2, 0, 1, True)]
    assert [x.allocations for x in found] == [(x,) for x in FASTEST.allocations]


def test_of_two_at_once_that_serves_which_is_ready_longer() -> None:
    """Both are there at 1, and the second is issued while the first is read."""
    first = Allocation(0, 0, 0, 2, FETCHED, ready=0)
    second = Allocation(0, 8, 0, 3, FETCHED, ready=1)
    found = found_in(THREE_READS, second, first)
    served = [(x.allocations[0], x.stay.first, x.stay.last) for x in found]
    assert served == [(first, 0, 1), (second, 2, 2)]


def test_what_serves_nothing_is_left_out() -> None:
    """The first is ready too late for 1 and ends before 2; the second has no access."""
    idle = problem((W, X), (writes(1),), (reads(0),), (), (reads(0),))
    late = Allocation(0, 0, 1, 3, FETCHED, ready=2)
    assert found_in(idle, late, Allocation(1, 8, 0, 1)) == found_in(
        idle, Allocation(1, 8, 0, 1)
    )


def test_an_access_at_the_end_of_an_allocation_is_not_served_by_it() -> None:
    one = Allocation(0, 0, 0, 2, FETCHED, ready=1)
    (found,) = found_in(THREE_READS, one)
    assert (found.stay.first, found.stay.last) == (1, 1)
    assert (found.stay.start, found.stay.end) == (1, 2)


def test_what_the_previous_run_left_is_one_stay_with_its_copy_for_the_next() -> None:
    given_one = problem((W,), (reads(0),), (), (), ())
    head, tail = Allocation(0, 0, 0, 1, LEFT), Allocation(0, 0, 2, 4, LEFT, ready=4)
    (found,) = found_in(given_one, head, tail)
    assert found.allocations == (head, tail)
    assert (found.stay.start, found.stay.end, found.is_usual) == (0, 1, True)


def test_an_eviction_that_a_stay_needs_makes_it_usual() -> None:
    given_one = problem((X,), (writes(0),), (), (reads(0),))
    for eviction, is_usual in ((Eviction(1, 2), True), (None, False)):
        (found,) = found_in(given_one, Allocation(0, 0, 0, 2, eviction=eviction))
        assert found.is_usual is is_usual


def test_a_stay_in_a_loop_is_the_innermost_that_holds_the_allocation() -> None:
    """From 1 on it is copied once, before the loop; from 2 on in each trip."""
    loop = Loop(1, 4, trip_count=3)
    given_one = problem((W,), (), (), (), (reads(0),), loops=(loop,))
    once = Allocation(0, 0, 0, 4, FETCHED, ready=1)
    again = Allocation(0, 0, 2, 4, FETCHED, ready=3)
    bodies = [found_in(given_one, x)[0].stay.body for x in (once, again)]
    assert bodies == [None, loop]


def test_an_unusual_stay_is_just_its_allocation() -> None:
    """What a loop writes first is kept across it, as solvers never do."""
    given_one = problem((OUT,), (writes(0),), (), loops=(Loop(0, 1, trip_count=2),))
    one = Allocation(0, 0, 0, 2, eviction=Eviction(1, 2))
    assert check(given_one, MemoryMap((one,))) == ()
    (found,) = found_in(given_one, one)
    assert not found.is_usual
    stay = found.stay
    assert (stay.start, stay.end, stay.body, stay.produced) == (0, 2, None, True)
    assert (stay.issue, stay.deadline, stay.instructions) == (1, 2, (0,))


@settings(max_examples=75)
@given(st.data(), problems())
def test_stays_serve_each_access_that_a_ready_allocation_covers_once(
    data: st.DataObject, drawn: Problem
) -> None:
    memory_map: MemoryMap = data.draw(memory_maps(drawn, max_allocations=3))
    assume(memory_map.allocations and not check(drawn, memory_map))
    found = found_in(drawn, *memory_map.allocations)
    served = [
        (x.stay.buffer, use)
        for x in found
        for use in range(x.stay.first, x.stay.last + 1)
    ]
    covered = [
        (buffer, use)
        for buffer, uses in enumerate(drawn.program.uses)
        for use, access in enumerate(uses)
        if any(
            x.buffer == buffer and x.ready <= access.instruction < x.end
            for x in memory_map.allocations
        )
    ]
    assert sorted(served) == covered
    held = list(chain.from_iterable(x.allocations for x in found))
    assert len(held) == len(set(held))
    assert set(held) <= set(memory_map.allocations)
