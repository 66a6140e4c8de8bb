"""A rehearsal of a strategy: what it loads and compiles, it does before the clock."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from hybridalloc.compose import as_solver
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.solver import Run
from hybridalloc.target import TARGETS

ITERATIONS = 20
"""What a rehearsal runs for, of whatever a strategy iterates."""


@cache
def rehearse(strategy: str) -> None:
    """Let a strategy solve a tiny program, without a limit of time.

    That loads its libraries and compiled loops; the first time on a machine it
    compiles them, which takes up to a minute. Whatever fails here fails again, and is
    told, where the strategy solves the problem that it is meant for.

    Args:
        strategy: The text of a composition.

    Raises:
        UsageError: It is not one.
    """
    solver = as_solver(strategy)
    with suppress(Exception):
        solver.solve(_problem(), Run(iterations=ITERATIONS))


def _problem() -> Problem:
    """One of everything: an input, an output, a temporary, a chain in place, a loop."""
    buffers = (
        Buffer("weights", 1024, is_input=True),
        Buffer("carry", 2048, is_input=True, cross_program=False),
        Buffer("temporary", 512),
        Buffer("result", 1024, is_output=True),
    )
    fill = Access(2, write_bytes=512, whole=True)
    accumulate = Access(1, read_bytes=2048, write_bytes=2048)
    instructions = (
        Instruction("first", 1e-6, (Access(0, read_bytes=1024), fill)),
        Instruction("chain", 1e-6, (Access(2, 512, 512), accumulate)),
        Instruction("idle", 1e-6),
        Instruction("body", 1e-6, (Access(0, read_bytes=1024), accumulate)),
        Instruction("last", 1e-6, (Access(2, 512), Access(3, 0, 1024, whole=True))),
    )
    program = Program("rehearsal", instructions, buffers, (Loop(3, 4, trip_count=4),))
    return Problem(program, TARGETS["tpu-v4i"], compiler_map=MemoryMap())
