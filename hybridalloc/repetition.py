"""A program run several times in a row, as one long program.

Loops that a compiler has unrolled are like this, and steps that run back to back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hybridalloc.program import Instruction, Loop, Observation, Program

MARK = "#"
"""Stands between a name and the number of its repeat, from 2 on."""


def repeat(program: Program, times: int) -> Program:
    """The program that runs a program so many times, one run after the other.

    All repeats share the inputs that nobody writes, such as weights, and those that
    are outputs too: what one repeat leaves there, the next one finds. Every other
    buffer exists once a repeat: temporaries, outputs, and inputs whose memory is
    taken for something else. The first repeat keeps its indices and names; what is
    ``name`` there is ``name#2`` in the second.

    Args:
        program: What to run.
        times: How often, at least once; once is the program itself.

    Returns:
        The long program, of ``times`` as many instructions. With everything in slow
        memory, it takes ``times`` as long.

    Raises:
        ValueError: It is to run less than once.

    >>> from hybridalloc.program import Access, Buffer
    >>> step = Instruction("add", 1.0, (Access(0, write_bytes=8, whole=True),))
    >>> long = repeat(Program("sum", (step, step), (Buffer("x", 8),)), 3)
    >>> len(long), [buffer.name for buffer in long.buffers]
    (6, ['x', 'x#2', 'x#3'])
    """
    if times < 1:
        raise ValueError(f"program {program.name}: times {times} is not >= 1")
    if times == 1:
        return program
    own, mark = _own_buffers(program), _mark(program)
    instructions, buffers = list(program.instructions), list(program.buffers)
    for number in range(2, times + 1):
        suffix = f"{mark}{number}"
        index = list(range(len(program.buffers)))
        for buffer in own:
            index[buffer] = len(buffers)
            first = program.buffers[buffer]
            buffers.append(replace(first, name=first.name + suffix))
        instructions += _shifted(program.instructions, index, suffix)
    return Program(
        name=f"{program.name} x {times}",
        instructions=tuple(instructions),
        buffers=tuple(buffers),
        loops=tuple(_loops(program, times)),
    )


def _own_buffers(program: Program) -> list[int]:
    """The buffers that exist once a repeat."""
    return [
        index
        for index, buffer in enumerate(program.buffers)
        if not buffer.is_input
        or (
            not buffer.is_output
            and any(use.access.writes for use in program.uses[index])
        )
    ]


def _mark(program: Program) -> str:
    """What no buffer's name contains, so that no two names become one."""
    mark = MARK
    while any(mark in buffer.name for buffer in program.buffers):
        mark += MARK
    return mark


def _shifted(
    instructions: Sequence[Instruction], index: Sequence[int], suffix: str
) -> Iterator[Instruction]:
    """The instructions of a repeat.

    Args:
        instructions: Those of the first.
        index: (buffers of the first,): which buffer stands for each.
        suffix: Of their names.
    """
    for instruction in instructions:
        yield replace(
            instruction,
            name=instruction.name + suffix,
            accesses=tuple(
                replace(access, buffer=index[access.buffer])
                for access in instruction.accesses
            ),
            observations=tuple(
                Observation(tuple(sorted(index[i] for i in seen.fast)), seen.cycles)
                for seen in instruction.observations
            ),
        )


def _loops(program: Program, times: int) -> Iterator[Loop]:
    for number in range(times):
        shift = number * len(program)
        for loop in program.loops:
            yield replace(loop, start=loop.start + shift, end=loop.end + shift)
