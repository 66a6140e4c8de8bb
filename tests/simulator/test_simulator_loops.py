"""Copies in, across and beside loops, on programs small enough to work out by hand.

As in ``test_simulator``: a copy of n bytes is n seconds of work, all compute is idle.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Instruction, Loop, Program
from hybridalloc.simulator import Simulation, simulate
from hybridalloc.target import MemorySpace, Target

TARGET = Target(
    name="round",
    spaces=(MemorySpace("fast", 10, 10, 1000), MemorySpace("slow", 1, 1)),
    flops_per_second=1.0,
    clock_hz=1.0,
)


def run(
    compute: Sequence[float],
    loops: Sequence[tuple[int, int, int]],
    *copies: tuple[str, int, int, int],
) -> Simulation:
    """Simulate loops (start, end, trips) and copies (in or out, bytes, issue, due)."""
    allocations = []
    for i, (direction, _, issue, due) in enumerate(copies):
        if direction == "in":
            stay = Allocation(i, 0, issue, due + 1, Origin.PREFETCHED, due)
        else:
            stay = Allocation(i, 0, 0, max(due, 1), eviction=Eviction(issue, due))
        allocations.append(stay)
    program = Program(
        "loops",
        tuple(Instruction(f"i{t}", seconds) for t, seconds in enumerate(compute)),
        tuple(Buffer(f"b{i}", copy[1], is_input=True) for i, copy in enumerate(copies)),
        tuple(Loop(*loop) for loop in loops),
    )
    return simulate(Problem(program, TARGET), MemoryMap(tuple(allocations)))


def test_instructions_count_once_for_each_trip() -> None:
    # 1 + 3 * (2 + 5 * 4) + 1
    assert run([1, 2, 4, 1], [(1, 3, 3), (2, 3, 5)]).time_s == pytest.approx(68)


def test_a_copy_inside_a_loop_happens_in_each_trip() -> None:
    # Each trip 5 - 2 s of stall.
    assert run([2, 2], [(0, 2, 3)], ("in", 5, 0, 1)) == Simulation(12 + 9, 9, 15)


def test_a_copy_across_a_loop_uses_the_idle_time_of_all_its_trips() -> None:
    loop = [(1, 2, 3)]
    assert run([0, 4, 0], loop, ("in", 12, 1, 2)) == Simulation(12, 0, 12)
    assert run([0, 4, 0], loop, ("in", 14, 1, 2)) == Simulation(14, 2, 14)
    assert run([1, 4, 0], loop, ("in", 14, 0, 2)) == Simulation(14, 1, 14)
    assert run([1, 4, 9], loop, ("out", 14, 1, 3)) == Simulation(22, 0, 14)


@pytest.mark.parametrize(
    ("issue", "due", "times"),
    [
        (0, 1, 1),  # due at the loop's first instruction: before it
        (1, 1, 1),  # at the loop's first instruction: before it
        (1, 2, 4),  # the other end lies strictly between: in each trip
        (2, 2, 4),  # strictly between
        (2, 3, 4),  # due just after the last instruction, issued strictly between
        (1, 3, 1),  # both ends at the loop's ends: it spans the loop
        (3, 3, 1),  # just after the last instruction: after it
        (3, 4, 1),
    ],
)
def test_points_at_the_ends_of_a_loop_belong_where_the_copy_needs_them(
    issue: int, due: int, times: int
) -> None:
    # Nothing is idle, hence each of 5 bytes moved is a second of stall.
    found = run([0] * 5, [(1, 3, 4)], ("in", 5, issue, due))
    assert found == Simulation(5 * times, 5 * times, 5 * times)


def test_a_copy_across_an_inner_loop_happens_once_in_each_trip_of_the_outer_one() -> (
    None
):
    # 3 * 2 s of the inner loop hide 6 of 7 s, twice.
    found = run([0, 2, 0], [(0, 3, 2), (1, 2, 3)], ("in", 7, 1, 2))
    assert found == Simulation(12 + 2, 2, 14)


def test_a_copy_belongs_to_the_innermost_body_that_holds_both_ends() -> None:
    # All begin at 0. Of the copies from there, the one due at 1 is met 2 * 3 times,
    # the one due at 2 (the inner loop's end) and at 3 twice, and at 4 once.
    loops = [(0, 4, 2), (0, 2, 3)]
    for due, times in ((1, 6), (2, 2), (3, 2), (4, 1)):
        assert run([0] * 5, loops, ("in", 1, 0, due)).moved_bytes == times


@pytest.mark.parametrize(
    ("issue", "due", "moved", "stalls"),
    [
        (1, 2, 8, 2 * (4 - 3)),  # in the first loop: 3 s under instruction 1
        (2, 3, 20, 5 * (4 - 1)),  # in the second: 1 s under instruction 2
        (2, 2, 4, 4),  # between them
        (2, 4, 4, 0),  # across the second: 5 * 1 s
        (0, 2, 4, 0),  # across the first
    ],
)
def test_a_point_between_two_loops_serves_both_and_what_is_between(
    issue: int, due: int, moved: int, stalls: float
) -> None:
    found = run([3, 3, 1, 0], [(0, 2, 2), (2, 4, 5)], ("in", 4, issue, due))
    assert found.moved_bytes == moved
    assert found.stall_s == pytest.approx(stalls)


def test_between_loops_the_end_of_one_comes_before_the_begin_of_the_next() -> None:
    # At point 2, first b0 (4 - 3 s) in the first body; then b1, issued between the
    # loops and due at T, queues before b2 of the second body: 9 + 1 - 1 s once, and
    # after that 1 s of b2 fits into each trip.
    found = run(
        [3, 3, 1, 0],
        [(0, 2, 1), (2, 4, 5)],
        ("in", 4, 1, 2),
        ("in", 1, 2, 3),
        ("in", 9, 2, 4),
    )
    assert found.stall_s == pytest.approx(1 + 9)


def test_a_copy_queued_before_a_loop_delays_only_its_first_trip() -> None:
    # First trip: 10 + 3 s of work, 2 s done. The other three: 3 - 2 s.
    copies = ("in", 10, 0, 3), ("in", 3, 1, 2)
    assert run([0, 2, 2, 0], [(1, 3, 4)], *copies) == Simulation(16 + 14, 14, 22)


@pytest.mark.parametrize("trips", [250, 251, 10**6, 10**15])
def test_trips_change_once_a_copy_across_the_loop_is_complete(trips: int) -> None:
    # While the eviction lasts, a trip shares 2 s, stalls for the last second of the
    # prefetch (2 s, shared), and leaves 2 s more to the eviction: 4 of 1000 s. So
    # 250 trips stall for 2 s each, and all later ones for none.
    found = run([0, 2, 2, 0], [(1, 3, trips)], ("in", 2, 1, 2), ("out", 1000, 1, 3))
    assert found.stall_s == pytest.approx(500)
    assert found.time_s == pytest.approx(4 * trips + 500)


def test_a_copy_across_two_long_loops_drains_evenly() -> None:
    # 10^9 * (3 + 2 * 4) s are idle, of 11 * 10^9 + 5.
    loops = [(1, 4, 10**9), (2, 3, 2)]
    found = run([0, 3, 4, 0, 0], loops, ("in", 11 * 10**9 + 5, 1, 4))
    assert found.stall_s == pytest.approx(5)


def test_a_loop_without_trips_is_skipped_with_its_copies() -> None:
    copies = ("in", 5, 1, 2), ("in", 3, 1, 3)
    assert run([1, 9, 9, 1], [(1, 3, 0)], *copies) == Simulation(2 + 3, 3, 3)


@pytest.mark.parametrize(("issue", "due"), [(0, 2), (2, 4), (2, 5), (0, 4), (1, 4)])
def test_copies_that_enter_or_leave_loops_do_not_hold_up_the_simulator(
    issue: int, due: int
) -> None:
    loops = [(0, 5, 10**9), (1, 3, 10**9), (3, 5, 10**9)]
    copies = ("in", 5, issue, due), ("out", 7, 2, 4), ("in", 1, 3, 4)
    found = run([1] * 6, loops, *copies)
    assert found.time_s >= 10**18


@pytest.mark.parametrize("trips", [20, 1000, 10**9])
@pytest.mark.parametrize("inner", [(), ((2, 5, 1),)])
@pytest.mark.parametrize(("before", "more"), [(0, 0), (12, 12)])
def test_copies_that_leave_a_loop_pile_up(
    before: int, more: int, inner: tuple[tuple[int, int, int], ...], trips: int
) -> None:
    # A trip issues 1 s, due in it, and behind it 9 s, due only at T; it hides 9 s.
    # With nothing before the loop the pile grows by 1 s a trip to 9 s; from trip 10 on
    # a trip stalls for 1 s, and 9 s are drained at T: as many as trips. With 12 s
    # before it, trip 1 stalls for 12 + 1 - 9 = 4 s and all others for 1: 12 s more.
    found = run(
        [0, 0, 0, 9, 0, 0, 0],
        [(1, 6, trips), *inner],
        ("in", before, 0, 7),
        ("in", 1, 2, 4),
        ("in", 9, 3, 7),
    )
    assert found.stall_s == pytest.approx(trips + more)


def test_a_copy_from_before_a_loop_is_done_although_others_pile_up_behind_it() -> None:
    # 100 trips do 200 s of work: all 50 s of the first copy and a part of the 300 s
    # that they issue. The other 150 s fit under instruction 3.
    found = run([0, 1, 1, 150, 0], [(1, 3, 100)], ("in", 50, 0, 3), ("in", 3, 2, 4))
    assert found.stall_s == pytest.approx(0)


def test_a_copy_in_sixty_loops_within_loops_stalls_in_each_of_their_trips() -> None:
    # All loops begin at 0; the innermost one is [0, 2). A trip stalls for 5 - 2 s.
    loops = [(0, 61 - i, 2) for i in range(60)]
    found = run([2] + [0] * 60, loops, ("in", 5, 0, 1))
    assert found.stall_s == pytest.approx(3 * 2**60)
    assert found.moved_bytes == 5 * 2**60


def test_a_copy_across_forty_loops_within_loops_drains_in_all_their_trips() -> None:
    # 2^40 s are idle in the loops from 1 on, of 2^40 + 5.
    loops = [(1, 42 - i, 2) for i in range(40)]
    found = run([0, 1] + [0] * 42, loops, ("in", 2**40 + 5, 1, 42))
    assert found.stall_s == pytest.approx(5)


def test_copies_that_leave_sixty_loops_do_not_hold_up_the_simulator() -> None:
    loops = [(0, 62 - i, 2) for i in range(60)]
    copies = ("in", 5, 1, 60), ("out", 7, 1, 50), ("in", 3, 1, 2)
    assert run([1] * 63, loops, *copies).time_s >= 2**60
