"""The relaxation: a mixed-integer program whose optimum no valid map beats.

Every valid map, or one without its needless parts that takes no longer (``residency``),
is a solution of it that costs no more than that map takes, so its optimum, and that of
any further relaxation, is a lower bound. Time is counted over
one whole run, so an instruction or copy within a loop counts as often as it runs, and
every quantity that differs between iterations stands for its mean: the rows are
linear, so what holds in each iteration holds for the mean.

What is relaxed: offsets (capacity counts units of the alignment, not places); the order
of copies in their queues (only that copies take no more time out of instructions than
those leave idle, at full speed: two queues that share it half and half take as much);
limits on outstanding copies (other than 0); the start-up time of copies; and that the
part of a prefetch that is not yet copied, and that of an eviction that already is,
hold memory as well.

The rules of one buffer are in ``residency``, those of copies in ``copies``, the time
of instructions in ``running``, and what all compete for in ``resources``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.copies import Copies, Work
from hybridalloc.bounds.halving import Halving
from hybridalloc.bounds.linear_program import Builder, LinearProgram
from hybridalloc.bounds.residency import Context, Stay, relax_buffer
from hybridalloc.bounds.resources import FastMemory, IdleTime
from hybridalloc.bounds.running import Running, require_time
from hybridalloc.bounds.space import free_units
from hybridalloc.cost_model import compile_costs
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The program, and what its columns and rows mean."""

    problem: Problem
    program: LinearProgram
    unit_s: float
    """Seconds in one unit of the program's time, that of its objective."""
    free: Ints
    """(T,): units of fast memory that allocations may take."""
    served: dict[tuple[int, int], int]
    """The column that is 1 where fast memory serves an access, by instruction and
    buffer; accesses without one are served from slow memory."""
    elapsed: Ints
    """(T,): the columns of what instructions take in one run."""
    runs: Floats
    """(T,): how often each runs, divided by ``unit_s``."""
    levels: Ints
    """(T,): the columns of what is held during each instruction."""
    stays: tuple[Stay, ...]
    work: Work


def relax(
    problem: Problem, unit_s: float, deadline: float, *, cautious: bool = False
) -> Relaxation:
    """The relaxation of a problem.

    Args:
        problem: The program, the target and the cost model.
        unit_s: Seconds that shall be one unit of time; best about the mean time of an
            instruction, so that numbers are neither tiny nor huge.
        deadline: When to have set it up, in seconds of ``time.monotonic()``.
        cautious: Whether copies hold more, so that solutions are closer to maps; no
            bound follows then.

    Raises:
        TimeoutError: There was not enough time for that.
    """
    builder = Builder()
    loops = Loops(problem.program)
    tree, free = Halving(len(problem.program)), free_units(problem)
    memory = FastMemory(builder, tree, free)
    running = Running(builder, problem, free, unit_s, deadline)
    idle = IdleTime(builder, tree, running.idle_rows, running.most_idle)
    copies = Copies(builder, problem, loops, memory, idle, unit_s, cautious=cautious)
    context = Context(
        builder=builder,
        problem=problem,
        loops=loops,
        free=free,
        served=running.served,
        copies=copies,
        memory=memory,
        cross_program=builder.row(high=float(problem.target.cross_program_prefetches)),
    )
    stays = tuple(_relax_buffers(context, deadline))
    return Relaxation(
        problem=problem,
        program=builder.build(),
        unit_s=unit_s,
        free=free,
        served=running.served,
        elapsed=np.array(running.columns),
        runs=running.runs,
        levels=memory.columns,
        stays=stays,
        work=copies.work(),
    )


def _relax_buffers(context: Context, deadline: float) -> Iterator[Stay]:
    for buffer in range(len(context.problem.program.buffers)):
        require_time(deadline)
        yield from relax_buffer(context, buffer)


def relax_to_instructions(problem: Problem, unit_s: float) -> Relaxation:
    """What is left of it where there is no time: no rows.

    Each instruction takes as long as it must with the better memory for each access.

    Args:
        problem: As for ``relax``.
        unit_s: See there.
    """
    costs, builder = compile_costs(problem), Builder()
    runs = costs.runs / unit_s
    fastest_s = np.minimum(costs.fast_s, costs.slow_s)
    until = np.concatenate([[0.0], np.cumsum(fastest_s)])
    memory_s = np.diff(until[costs.first_access])
    for least in (runs * np.maximum(costs.compute_s, memory_s)).tolist():
        builder.column(low=least, high=least, cost=1.0)
    none = np.zeros(0, dtype=np.int64)
    return Relaxation(
        problem=problem,
        program=builder.build(),
        unit_s=unit_s,
        free=free_units(problem),
        served={},
        elapsed=np.arange(len(runs)),
        runs=runs,
        levels=none,
        stays=(),
        work=Work(none, none, np.zeros(0), np.zeros(0)),
    )
