"""Small problems and maps for the tests of the checker.

Buffers have 8 bytes unless said, fast memory 32, in units of 4.
"""

from __future__ import annotations

from hybridalloc.checker import Rule, Violation, check
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.target import CopyEngine, MemorySpace, Target

W, V, X, Y, IO, HALF = range(6)
"""Two inputs, two temporaries, an input that is an output too, 4 temporary bytes."""
BUFFERS = (
    Buffer("w", 8, is_input=True),
    Buffer("v", 8, is_input=True),
    Buffer("x", 8),
    Buffer("y", 8),
    Buffer("io", 8, is_input=True, is_output=True),
    Buffer("half", 4),
)
ENGINE = CopyEngine()
IDLE: tuple[Access, ...] = ()
"""An instruction that accesses nothing."""


def reads(*buffers: int) -> tuple[Access, ...]:
    """Each in part."""
    return tuple(Access(buffer, read_bytes=4) for buffer in buffers)


def writes(*buffers: int) -> tuple[Access, ...]:
    """Each as a whole."""
    return tuple(Access(buffer, write_bytes=8, whole=True) for buffer in buffers)


def updates(*buffers: int) -> tuple[Access, ...]:
    """Each in part, in place."""
    return tuple(Access(buffer, read_bytes=4, write_bytes=4) for buffer in buffers)


def problem(
    *instructions: tuple[Access, ...],
    loops: tuple[tuple[int, int], ...] = (),
    buffers: tuple[Buffer, ...] = BUFFERS,
    scratch: tuple[int, ...] = (),
    reserved: tuple[tuple[int, int], ...] = (),
    engine: CopyEngine = ENGINE,
) -> Problem:
    """These instructions, with scratch for the first few, and loops by their ends."""
    scratch += (0,) * (len(instructions) - len(scratch))
    steps = tuple(
        Instruction(f"i{t}", accesses=accesses, scratch_bytes=scratch[t])
        for t, accesses in enumerate(instructions)
    )
    nest = tuple(Loop(start, end, trip_count=3) for start, end in loops)
    fast = MemorySpace("fast", 2.0, 2.0, 32, alignment=4, reserved=reserved)
    target = Target("t", (fast, MemorySpace("slow", 1.0, 1.0)), 1.0, 1.0, engine)
    return Problem(Program("p", steps, buffers, nest), target)


def produced(
    buffer: int,
    start: int,
    end: int,
    offset: int | None = 0,
    evicted: tuple[int, int] | None = None,
) -> Allocation:
    """An allocation that instruction ``start`` writes, perhaps evicted at the end."""
    eviction = Eviction(*evicted) if evicted else None
    return Allocation(buffer, offset, start, end, eviction=eviction)


def fetched(
    buffer: int,
    start: int,
    ready: int,
    end: int,
    offset: int | None = 0,
    evicted: tuple[int, int] | None = None,
    slices: tuple[tuple[int, int], ...] = (),
) -> Allocation:
    """A prefetch, perhaps in slices of (size, issue), perhaps evicted at the end."""
    eviction = Eviction(*evicted) if evicted else None
    pieces = tuple(Slice(size, issue) for size, issue in slices)
    origin = Origin.PREFETCHED
    return Allocation(buffer, offset, start, end, origin, ready, pieces, eviction)


def kept(
    buffer: int, start: int, end: int, offset: int = 0, ready: int = -1
) -> Allocation:
    """A cross-program prefetch."""
    origin = Origin.CROSS_PROGRAM
    return Allocation(buffer, offset, start, end, origin, ready)


def found(problem: Problem, *allocations: Allocation) -> tuple[Violation, ...]:
    """All violations."""
    return check(problem, MemoryMap(allocations))


def rules(problem: Problem, *allocations: Allocation) -> list[Rule]:
    """The rules that the violations name, in order, each once."""
    named = (violation.rule for violation in found(problem, *allocations))
    return list(dict.fromkeys(named))


def violation(problem: Problem, *allocations: Allocation) -> Violation:
    """The only violation."""
    (only,) = found(problem, *allocations)
    return only


def valid(problem: Problem, *allocations: Allocation) -> bool:
    """Whether there is none."""
    return found(problem, *allocations) == ()
