"""In which order XLA takes up the buffers."""

from __future__ import annotations

from hybridalloc.baselines.msa.lifetimes import Lifetimes
from hybridalloc.baselines.msa.options import MsaOptions
from hybridalloc.benefit import Site, memory_boundedness
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Memory

DIGITS = 5
"""Scores that agree in so many digits count as equal: bandwidths are not known to
more."""


def in_order(
    problem: Problem, loops: Loops, lifetimes: Lifetimes, options: MsaOptions
) -> list[int]:
    """The buffers that may be in fast memory, the one that gains most first.

    Source: openxla/xla, ``MemoryBoundednessBufferIntervalComparator``.
    """
    program = problem.program
    keys = []
    for index, buffer in enumerate(program.buffers):
        uses = program.uses[index]
        fits = 0 < buffer.size <= problem.target.capacity
        if not (uses and fits and buffer.memory is Memory.ANY):
            continue
        start, end = lifetimes.definition(index), lifetimes.first_end(index)
        score = float(f"{_boundedness(problem, loops, index, options):.{DIGITS}g}")
        keys.append((-score, -buffer.size, start - end, end, start, index))
    return [key[-1] for key in sorted(keys)]


def _boundedness(
    problem: Problem, loops: Loops, buffer: int, options: MsaOptions
) -> float:
    """Seconds that a buffer saves in fast memory, over the square root of its size."""
    definition, uses = None, []
    for number, use in enumerate(problem.program.uses[buffer]):
        access = use.access
        defines = number == 0 and access.whole
        if defines or not access.whole:
            instruction = problem.program.instructions[use.instruction]
            accesses = instruction.accesses
            site = Site(
                compute_s=instruction.compute_s,
                total_bytes=sum(x.read_bytes + x.write_bytes for x in accesses),
                site_bytes=access.write_bytes if defines else access.read_bytes,
                is_write=defines,
                runs=options.runs(len(loops.around(use.instruction))),
            )
            if defines:
                definition = site
            else:
                uses.append(site)
    size = problem.program.buffers[buffer].size
    return memory_boundedness(definition, uses, size, problem.target)
