"""Small problems by name, one for each thing that a strategy has to cope with.

Fast memory is four times as fast as slow memory, which moves one byte a second.
Buffers have 8 bytes and fast memory 32, in units of 4, unless a problem says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import (
    Access,
    Buffer,
    Instruction,
    Loop,
    Memory,
    Observation,
    Program,
)
from hybridalloc.target import CopyEngine, MemorySpace, Target


def reads(buffer: int) -> Access:
    """The whole buffer once."""
    return Access(buffer, read_bytes=8)


def writes(buffer: int) -> Access:
    """Every byte."""
    return Access(buffer, write_bytes=8, whole=True)


def updates(buffer: int) -> Access:
    """Half of it, in place."""
    return Access(buffer, read_bytes=4, write_bytes=4)


def target(
    capacity: int = 32,
    reserved: tuple[tuple[int, int], ...] = (),
    engine: CopyEngine | None = None,
    cross_program_prefetches: int = 1,
) -> Target:
    """A target with little fast memory."""
    return Target(
        "small",
        (
            MemorySpace("fast", 4.0, 4.0, capacity, alignment=4, reserved=reserved),
            MemorySpace("slow", 1.0, 1.0),
        ),
        flops_per_second=1.0,
        clock_hz=1.0,
        copy_engine=engine or CopyEngine(),
        cross_program_prefetches=cross_program_prefetches,
    )


def problem(
    buffers: tuple[Buffer, ...],
    *instructions: tuple[Access, ...],
    compute: Mapping[int, float] | None = None,
    scratch: Mapping[int, int] | None = None,
    loops: tuple[Loop, ...] = (),
    machine: Target | None = None,
) -> Problem:
    """These instructions, with compute time and scratch at some of them."""
    steps = tuple(
        Instruction(
            f"i{t}", (compute or {}).get(t, 0.0), accesses, (scratch or {}).get(t, 0)
        )
        for t, accesses in enumerate(instructions)
    )
    return Problem(Program("named", steps, buffers, loops), machine or target())


def temporaries(count: int) -> tuple[Buffer, ...]:
    """Named t0, t1, ..."""
    return tuple(Buffer(f"t{i}", 8) for i in range(count))


W = Buffer("w", 8, is_input=True)
V = Buffer("v", 8, is_input=True)
X = Buffer("x", 8)
Y = Buffer("y", 8)
OUT = Buffer("out", 8, is_output=True)
DONATED = Buffer("donated", 8, is_input=True, is_output=True)

NAMED: dict[str, Problem] = {
    "a chain": problem(
        (W, X, Y, OUT),
        (reads(0), writes(1)),
        (reads(1), writes(2)),
        (reads(2), writes(3)),
    ),
    "nothing to do": problem((W,), (reads(0),), ()),
    "a weight behind a long computation": problem(
        (W, X, OUT),
        (writes(1),),
        (),
        (reads(0), reads(1), writes(2)),
        compute={1: 20.0},
    ),
    "a value that waits long": problem(
        (X, *temporaries(4), OUT),
        (writes(0),),
        (writes(1), writes(2), writes(3), writes(4)),
        (reads(1), reads(2), reads(3), reads(4)),
        (reads(0), writes(5)),
        compute={1: 50.0, 2: 50.0},
        machine=target(capacity=40),
    ),
    "an update in place": problem(
        (X, OUT), (writes(0),), (updates(0),), (updates(0),), (reads(0), writes(1))
    ),
    "a donated buffer": problem(
        (DONATED, W), (reads(1),), (updates(0),), (reads(0),), (reads(1),)
    ),
    "a weight read first and last": problem(
        (W, X), (reads(0), writes(1)), (reads(1),), (reads(0),), compute={1: 30.0}
    ),
    "two cross-program prefetches": problem(
        (W, V, X),
        (reads(0), reads(1), writes(2)),
        (reads(2),),
        compute={1: 30.0},
        machine=target(cross_program_prefetches=2),
    ),
    "a loop over weights": problem(
        (W, DONATED, X, OUT),
        (updates(1),),
        (reads(0), updates(1), writes(2)),
        (reads(2), updates(1)),
        (reads(1), writes(3)),
        loops=(Loop(1, 3, trip_count=5),),
    ),
    "a value carried by a loop": problem(
        (X, Y, OUT),
        (writes(0),),
        (reads(0), writes(1)),
        (reads(1), writes(0)),
        (reads(0), writes(2)),
        loops=(Loop(1, 3, trip_count=5),),
    ),
    "a value that a loop leaves": problem(
        (X, Y, OUT),
        (writes(0),),
        (reads(0),),
        (writes(1),),
        (reads(1), writes(2)),
        loops=(Loop(1, 3, trip_count=4),),
    ),
    "loops within and beside loops": problem(
        (W, X, Y, OUT),
        (writes(1),),
        (reads(1), writes(2)),
        (reads(0), reads(2)),
        (updates(2),),
        (reads(2), updates(1)),
        (reads(1), writes(3)),
        (reads(3),),
        loops=(
            Loop(1, 5, trip_count=3),
            Loop(2, 4, trip_count=4),
            Loop(5, 7, trip_count=2),
        ),
    ),
    "hardly any fast memory": problem(
        (W, X, Buffer("small", 4, is_input=True)),
        (reads(0), writes(1)),
        (reads(1), Access(2, read_bytes=4)),
        (reads(0), Access(2, read_bytes=4)),
        machine=target(capacity=4),
    ),
    "more than fits": problem(
        (W, V, *temporaries(4), OUT),
        (writes(2), reads(0)),
        (writes(3), reads(2)),
        (writes(4), reads(3), reads(1)),
        (writes(5), reads(4), reads(2)),
        (reads(5), reads(3), writes(6)),
        compute={2: 40.0},
        machine=target(capacity=20),
    ),
    "scratch, a reserved range and a fixed place": problem(
        (W, Buffer("fixed", 8, offset=16), X, OUT),
        (writes(1), writes(2)),
        (reads(0), reads(1), reads(2)),
        (reads(1), reads(2), writes(3)),
        scratch={1: 8},
        machine=target(capacity=40, reserved=((12, 16),)),
    ),
    "pinned buffers": problem(
        (
            replace(W, memory=Memory.FAST),
            replace(X, memory=Memory.FAST),
            replace(OUT, memory=Memory.FAST),
            replace(V, memory=Memory.SLOW),
        ),
        (reads(0), reads(3)),
        (writes(1),),
        (reads(1), reads(0)),
        (reads(1), reads(3), writes(2)),
        loops=(Loop(1, 3, trip_count=3),),
    ),
    "buffers of no bytes": problem(
        (Buffer("none", 0, is_input=True), W, Buffer("empty", 0, is_output=True)),
        (reads(1), Access(0)),
        (Access(2, whole=True),),
        (Access(0), Access(2), reads(1)),
        compute={1: 30.0},
    ),
    "a slow copy engine": problem(
        (W, V, X, OUT),
        (writes(2),),
        (reads(0), reads(1)),
        (reads(0), reads(1), reads(2)),
        (reads(2), writes(3)),
        compute={0: 30.0, 1: 30.0},
        machine=target(
            engine=CopyEngine(
                max_outstanding_prefetches=1,
                max_outstanding_evictions=0,
                startup_s=2.0,
                max_slices=1,
            )
        ),
    ),
}

PINS_THAT_DO_NOT_FIT = NAMED["pinned buffers"].with_capacity(12)
"""Two buffers of 8 bytes must be in fast memory at once, which has 12."""

CHAIN = NAMED["a chain"]
SLOW = MemoryMap()
"""48 s: 16 + 16 + 16, all in slow memory."""
FASTER = MemoryMap((Allocation(1, 0, 0, 2),))
"""36 s: x in fast memory saves 6 where it is written and 6 where it is read."""
FASTEST = MemoryMap((Allocation(1, 0, 0, 2), Allocation(2, 8, 1, 3)))
"""24 s: y as well saves as much."""
INVALID = MemoryMap((Allocation(1, 0, 0, 1),))
"""Instruction 1 reads from slow memory what was never written there; 42 s."""


Y_ALONE = MemoryMap((Allocation(2, 8, 1, 3),))
"""36 s, as y saves what x does."""

_FIRST, _SECOND, _LAST = CHAIN.program.instructions
TWO_MODELS = replace(
    CHAIN,
    program=replace(
        CHAIN.program,
        instructions=(
            replace(_FIRST, observations=(Observation((), 20), Observation((1,), 30))),
            _SECOND,
            replace(_LAST, observations=(Observation((), 40), Observation((2,), 20))),
        ),
    ),
)
"""The chain, with estimates. The roofline and the cycles, in seconds:

========= ================= =================
map       roofline          cycles
========= ================= =================
SLOW      16 + 16 + 16 = 48 20 + 16 + 40 = 76
FASTER    10 + 10 + 16 = 36 30 + 10 + 40 = 80
Y_ALONE   16 + 10 + 10 = 36 20 + 10 + 20 = 50
FASTEST   10 + 4 + 10 = 24  30 + 4 + 20 = 54
========= ================= =================
"""


def observed(named: Problem) -> Problem:
    """The same problem under ``cycles``, with estimates of every other instruction.

    Each is a little slower than the roofline with nothing in fast memory, and a little
    faster than that, or slower still, with the first buffer there.
    """
    steps = []
    for t, step in enumerate(named.program.instructions):
        slow = step.compute_s + sum(a.read_bytes + a.write_bytes for a in step.accesses)
        seen = [Observation((), slow + 1)]
        if step.accesses:
            first = (step.accesses[0].buffer,)
            seen.append(Observation(first, max(0.0, slow + (2 if t % 4 else -5))))
        steps.append(replace(step, observations=() if t % 2 else tuple(seen)))
    program = replace(named.program, instructions=tuple(steps))
    return Problem(program, named.target, CostModel.CYCLES)
