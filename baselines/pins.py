"""Buffers that are pinned to fast memory come before all others."""

from __future__ import annotations

from hybridalloc.baselines.plan import Plan
from hybridalloc.program import Memory, Program


def pinned(program: Program) -> list[int]:
    """The buffers whose every access must be served from fast memory, largest first."""
    found = [
        index
        for index, buffer in enumerate(program.buffers)
        if buffer.memory is Memory.FAST and program.uses[index]
    ]
    return sorted(found, key=lambda index: (-program.buffers[index].size, index))


def place_pinned(plan: Plan) -> bool:
    """Place all pinned buffers, each in few stays; whether that worked."""
    return all(
        _place_run(plan, index, 0, len(plan.program.uses[index]) - 1)
        for index in pinned(plan.program)
    )


def _place_run(plan: Plan, buffer: int, first: int, last: int) -> bool:
    """Place a run of accesses as one stay, or else as two halves."""
    for stay in plan.lifetimes.stays_of(buffer, first, last):
        exactly = (stay.first, stay.last) == (first, last)
        if exactly and plan.place(stay, may_stall=True):
            return True
    middle = (first + last) // 2
    return (
        first < last
        and _place_run(plan, buffer, first, middle)
        and _place_run(plan, buffer, middle + 1, last)
    )
