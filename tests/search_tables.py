"""Tables of the local search on programs small enough to work out by hand.

The slow memory moves 1 byte a second and the fast one 10; accesses have no bytes unless
it is said, so that instructions only compute and all of that is idle time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.workspace import Goal, Workspace
from hybridalloc.incremental import tables
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.stays import candidate_stays, cross_program_stays
from hybridalloc.target import CopyEngine, MemorySpace, Target

READ, WRITE = "read", "write"


def problem(
    compute: Sequence[float],
    sizes: Sequence[int],
    uses: Mapping[tuple[int, int], str],
    loops: tuple[Loop, ...] = (),
    reserved: tuple[tuple[int, int], ...] = (),
    engine: CopyEngine | None = None,
) -> Problem:
    """Buffers of these sizes; ``uses`` has the access of (instruction, buffer)."""
    written = {b for (_, b), kind in sorted(uses.items()) if kind == WRITE}
    buffers = tuple(
        Buffer(f"b{b}", size, is_input=b not in written) for b, size in enumerate(sizes)
    )
    instructions = tuple(
        Instruction(
            f"i{t}",
            seconds,
            tuple(
                Access(b, whole=kind == WRITE)
                for (at, b), kind in sorted(uses.items())
                if at == t
            ),
        )
        for t, seconds in enumerate(compute)
    )
    target = Target(
        "round",
        (MemorySpace("fast", 10, 10, 20, 1, reserved), MemorySpace("slow", 1, 1)),
        flops_per_second=1.0,
        clock_hz=1.0,
        copy_engine=engine or CopyEngine(),
    )
    return Problem(Program("tiny", instructions, buffers, loops), target)


def workspace_of(given: Problem, *start: Allocation) -> Workspace:
    """The tables, with this map in them."""
    loops = Loops(given.program)
    return Workspace(
        Goal((given,), (1.0,), (math.inf,)),
        list(candidate_stays(given, loops)),
        cross_program_stays(given, loops),
        MemoryMap(start),
    )


def prefetch(buffer: int, offset: int, start: int, ready: int) -> Allocation:
    """A prefetch that serves one instruction."""
    return Allocation(buffer, offset, start, ready + 1, Origin.PREFETCHED, ready)


def evicted(buffer: int, offset: int, start: int, issue: int, due: int) -> Allocation:
    """What an instruction writes, copied back."""
    eviction = Eviction(issue, due)
    return Allocation(buffer, offset, start, max(issue, due), eviction=eviction)


def stay_of(
    workspace: Workspace, buffer: int, start: int, end: int, kind: int = tables.USUAL
) -> int:
    """The stay of a buffer from one point to another."""
    stays = workspace.world.stays
    found = np.flatnonzero(
        (stays[:, tables.BUFFER] == buffer)
        & (stays[:, tables.START] == start)
        & (stays[:, tables.END] == end)
        & (stays[:, tables.KIND] == kind)
    )
    return int(found[0])


def row_of(stay: int, x: Allocation, size: int) -> Ints:
    """The row of an allocation in one piece."""
    row = np.zeros(tables.SLOT_COLUMNS, dtype=np.int64)
    row[tables.STAY], row[tables.OF] = stay, x.buffer
    row[tables.OFFSET] = x.offset or 0
    row[tables.FROM], row[tables.READY], row[tables.UNTIL] = x.start, x.ready, x.end
    row[tables.OUT] = row[tables.DUE] = -1
    if x.eviction:
        row[tables.OUT], row[tables.DUE] = x.eviction.issue, x.eviction.due
    row[tables.BOXES] = 1
    row[tables.FIRST_BOX : tables.FIRST_BOX + 4] = 0, size, x.start, x.end
    return row
