"""In which order XLA takes up the buffers."""

from __future__ import annotations

from collections.abc import Sequence

from hybridalloc.baselines.moves import until_expired
from hybridalloc.baselines.msa.lifetimes import Lifetimes
from hybridalloc.baselines.msa.options import MsaOptions
from hybridalloc.benefit import Site, memory_boundedness
from hybridalloc.loops import Loops
from hybridalloc.pins import free
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

DIGITS = 5
"""Scores that agree in so many digits count as equal: bandwidths are not known to
more."""


def in_order(
    problem: Problem,
    loops: Loops,
    lifetimes: Lifetimes,
    options: MsaOptions,
    run: Run,
) -> list[int]:
    """The buffers that may be in fast memory, the one that gains most first.

    Those that there was time to look at until the deadline of the run. Source:
    openxla/xla, ``MemoryBoundednessBufferIntervalComparator``.
    """
    totals = [
        sum(x.read_bytes + x.write_bytes for x in instruction.accesses)
        for instruction in problem.program.instructions
    ]
    keys = []
    for index in until_expired(run, free(problem)):
        definition, uses = _sites(problem, loops, index, totals, options)
        size = problem.program.buffers[index].size
        seconds = memory_boundedness(definition, uses, size, problem.target)
        score = float(f"{seconds:.{DIGITS}g}")
        start, end = lifetimes.definition(index), lifetimes.first_end(index)
        keys.append((-score, -size, start - end, end, start, index))
    return [key[-1] for key in sorted(keys)]


def _sites(
    problem: Problem,
    loops: Loops,
    buffer: int,
    totals: Sequence[int],
    options: MsaOptions,
) -> tuple[Site | None, list[Site]]:
    """Where a buffer is defined, if a first access does, and where it is read.

    Args:
        problem: What the buffer is of.
        loops: Those of its program.
        buffer: Its index.
        totals: (T,): the bytes that each instruction moves.
        options: Say how often loops are taken to run.
    """
    definition, uses = None, []
    for number, use in enumerate(problem.program.uses[buffer]):
        access, t = use.access, use.instruction
        defines = number == 0 and access.whole
        if defines or not access.whole:
            site = Site(
                compute_s=problem.program.instructions[t].compute_s,
                total_bytes=totals[t],
                site_bytes=access.write_bytes if defines else access.read_bytes,
                is_write=defines,
                runs=options.runs(len(loops.around(t))),
            )
            if defines:
                definition = site
            else:
                uses.append(site)
    return definition, uses
