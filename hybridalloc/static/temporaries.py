"""The static problem of a program: its temporaries, each in memory all its life."""

from __future__ import annotations

from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.static.problem import StaticBuffer, StaticProblem


def temporaries(problem: Problem) -> StaticProblem:
    """Where the temporaries of a program could be if all were in one memory.

    Each lives from its first access to its last; what is live as a loop begins lives
    until it ends. Inputs and outputs are not temporaries. Offsets are aligned as in the
    target's fast memory; the capacity is open.
    """
    program, loops = problem.program, Loops(problem.program)
    buffers = []
    for buffer, uses in zip(program.buffers, program.uses, strict=True):
        if buffer.is_input or buffer.is_output or not uses:
            continue
        start, last = uses[0].instruction, uses[-1].instruction
        entered = (loop.end for loop in loops.around(last) if start < loop.start)
        buffers.append(
            StaticBuffer(
                name=buffer.name,
                size=buffer.size,
                start=start,
                end=next(entered, last + 1),
                alignment=problem.target.fast.alignment,
                offset=buffer.offset,
            )
        )
    return StaticProblem(program.name, tuple(buffers))
