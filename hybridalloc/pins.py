"""Which buffers must be in fast memory, and which may be."""

from __future__ import annotations

from hybridalloc.problem import Problem
from hybridalloc.program import Memory, Program


def is_pinned(program: Program, buffer: int) -> bool:
    """Whether every access of a buffer must be served from fast memory."""
    return program.buffers[buffer].memory is Memory.FAST


def pinned(program: Program) -> list[int]:
    """The pinned buffers that have accesses, largest first."""
    found = [
        index
        for index, uses in enumerate(program.uses)
        if uses and is_pinned(program, index)
    ]
    return sorted(found, key=lambda index: (-program.buffers[index].size, index))


def free(problem: Problem) -> list[int]:
    """The buffers with accesses that may be in fast memory and need not be.

    They have some bytes, and no more than there is room for.
    """
    program, capacity = problem.program, problem.target.capacity
    return [
        index
        for index, buffer in enumerate(program.buffers)
        if buffer.memory is Memory.ANY
        and 0 < buffer.size <= capacity
        and program.uses[index]
    ]
