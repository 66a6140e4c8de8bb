"""The execution oracle's plan: what can be executed, and in which order."""

from __future__ import annotations

import pytest

from hybridalloc.memory_map import Allocation, Origin, Slice
from hybridalloc.oracle.plan import unusable
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
