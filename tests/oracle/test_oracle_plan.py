"""The execution oracle's plan: what can be executed, and in which order."""

from __future__ import annotations

import pytest

from hybridalloc.memory_map import Allocation, Origin, Slice
from hybridalloc.oracle.plan import unroll, unusable
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Instruction, Loop, Program
from hybridalloc.target import MemorySpace, Target

PREFETCHED = Origin.PREFETCHED


def program(*loops: Loop) -> Program:
    """Four instructions, these loops and an input of 8 bytes."""
    buffers = (Buffer("x", 8, is_input=True),)
    return Program("test", (Instruction("i"),) * 4, buffers, loops)


@pytest.mark.parametrize(
    ("allocation", "reason"),
    [
        (Allocation(0, 24, 0, 4), ""),
        (Allocation(9, 0, 0, 1), "buffer 9 is not in [0, 1)"),
        (Allocation(0, None, 0, 1), "it has no offset"),
        (Allocation(0, 0, 0, 9), "its end 9 is after the program's 4"),
        (Allocation(0, 28, 0, 1), "[28, 36) ends after the capacity of 32 bytes"),
        (Allocation(0, 2, 0, 1), "2 is not a multiple of 4"),
        (
            Allocation(0, 0, 0, 1, PREFETCHED, slices=(Slice(4, 0),)),
            "its slices add up to 4 of 8 bytes",
        ),
        (
            Allocation(0, 0, 0, 1, PREFETCHED, slices=(Slice(3, 0), Slice(5, 0))),
            "3 is not a multiple of 4",
        ),
    ],
)
def test_an_allocation_is_unusable_for_a_reason_with_its_numbers(
    allocation: Allocation, reason: str
) -> None:
    fast = MemorySpace("fast", 1.0, 1.0, capacity=32, alignment=4)
    target = Target("test", (fast, MemorySpace("slow", 1.0, 1.0)), 1.0, 1.0)
    assert unusable(Problem(program(), target), allocation) == reason


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
