"""The order of steps in an unrolled run, and how many there are."""

from __future__ import annotations

from hybridalloc.oracle.unroll import MOST_STEPS, trips_made, unroll
from hybridalloc.program import Instruction, Loop, Program


def program(*loops: Loop, count: int = 4) -> Program:
    """Instructions that do nothing, in these loops."""
    return Program("test", (Instruction("i"),) * count, (), loops)


def test_loops_that_touch_run_one_after_the_other() -> None:
    """Of 9 trips, 2 are made; a loop without trips makes one all the same."""
    steps = unroll(program(Loop(0, 2, 9), Loop(2, 3, 0)), trips=2)
    ran = [step.index for step in steps if not step.is_point]
    assert ran == [0, 1, 0, 1, 2, 3]


def test_at_a_point_inner_bodies_end_first_and_outer_bodies_begin_first() -> None:
    """At point 2 the inner loop ends, then the outer one, then the last one begins."""
    outer, inner, last = Loop(0, 2, 1), Loop(1, 2, 1), Loop(2, 4, 1)
    steps = unroll(program(outer, inner, last), trips=3)
    bodies = [step.body for step in steps if step.is_point and step.index == 2]
    assert bodies == [inner, outer, None, last]


def test_a_thousand_loops_within_loops_are_unrolled_in_few_steps() -> None:
    """Trips that would be too many are made by the outer loops alone.

    The outermost loop has 1100 instructions and 1100 trips of loops: 2200 steps a trip.
    One trip of each, and at each instruction and trip at most a point more.
    """
    loops = [Loop(0, 1100 - i, trip_count=3) for i in range(1100)]
    deep = program(*loops, count=1100)
    made = trips_made(deep, 3)
    assert made[:3] == [3, 3, 3]
    assert made[-1] == 1
    steps = sum(1 for _ in unroll(deep, 3))
    assert 2200 < steps <= 2 * (MOST_STEPS + 2200) + 1


def test_short_loops_make_all_their_trips_beside_deep_ones() -> None:
    """The last loop, of depth 0, comes before those in the nest."""
    nest = [Loop(0, 60 - i, trip_count=3) for i in range(60)]
    assert trips_made(program(*nest, Loop(60, 61, 3), count=61), 3)[-1] == 3
