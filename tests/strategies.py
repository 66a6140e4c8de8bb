"""Hypothesis strategies: small programs, targets, problems and memory maps.

Times, bandwidths and cycles are small binary fractions, so that sums of them are
exact. Sizes are a few bytes, rarely none, and capacities a few alignment units, so that
buffers compete for fast memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hypothesis import strategies as st
from map_strategies import memory_maps

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

__all__ = ["memory_maps", "problems", "programs", "targets"]

_SIZES = st.sampled_from([*range(1, 17), *range(1, 17), 0])
_SECONDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 8.0])
_BANDWIDTHS = st.sampled_from([1.0, 2.0, 4.0, 8.0])
_CYCLES = st.sampled_from([0.0, 1.0, 2.0, 5.0, 16.0])
_STARTUPS = st.sampled_from([0.0] * 6 + [0.5] * 3 + [16.0])
_TRIPS = st.sampled_from([*range(1, 5), *range(1, 5), 0])
_LIMITS = st.sampled_from([40] * 12 + [2, 1, 0])
_RARELY = st.sampled_from([False] * 9 + [True])
_SOMETIMES = st.sampled_from([False] * 2 + [True])
_MOSTLY = st.sampled_from([False] + [True] * 2)


@st.composite
def programs(
    draw: st.DrawFn,
    *,
    max_instructions: int = 12,
    max_buffers: int = 6,
    max_loops: int = 3,
    observed: bool | None = None,
    pinned: bool = False,
) -> Program:
    """Valid programs with every kind of access and with nested and touching loops.

    Rarely a buffer has no bytes, a fixed place, or may not be in fast memory.

    Args:
        draw: Given by Hypothesis.
        max_instructions: The most instructions; there is at least one.
        max_buffers: The most buffers; there is at least one.
        max_loops: The most loops.
        observed: Whether some instruction carries estimates; ``None``: sometimes.
        pinned: Whether buffers may, rarely, be pinned to fast memory: then perhaps
            there is no valid map.
    """
    sizes = [draw(_SIZES) for _ in range(draw(st.integers(1, max_buffers)))]
    inputs = draw(st.sets(_indices(len(sizes))))
    observed = draw(_SOMETIMES) if observed is None else observed
    defined, instructions = set(inputs), []
    for t in range(draw(st.integers(1, max_instructions))):
        instruction = draw(_instructions(f"i{t}", sizes, frozenset(defined)))
        if observed and (t == 0 or draw(_SOMETIMES)):
            seen = draw(_observations(instruction, first=t == 0))
            instruction = replace(instruction, observations=seen)
        instructions.append(instruction)
        defined.update(access.buffer for access in instruction.accesses)
    memories = [Memory.ANY] * 8 + [Memory.SLOW, Memory.FAST if pinned else Memory.ANY]
    buffers = tuple(
        Buffer(
            f"b{b}",
            size,
            is_input=b in inputs,
            is_output=b in defined and draw(_SOMETIMES),
            memory=draw(st.sampled_from(memories)),
            offset=4 * draw(st.integers(0, 2)) if draw(_RARELY) else None,
        )
        for b, size in enumerate(sizes)
    )
    loops = draw(_loops(0, len(instructions), max_loops, nested=False))
    return Program("drawn", tuple(instructions), buffers, tuple(loops))


@st.composite
def targets(draw: st.DrawFn, *, alignments: tuple[int, ...] = (1, 4)) -> Target:
    """Targets with room for a few small buffers and with a slow copy engine.

    Args:
        draw: Given by Hypothesis.
        alignments: Of fast memory, to choose from.
    """
    alignment = draw(st.sampled_from(alignments))
    capacity = 4 * draw(st.integers(2, 16)) + draw(st.sampled_from([0, 0, 0, 2]))
    reserved: tuple[tuple[int, int], ...] = ()
    if draw(_RARELY):
        low = draw(st.integers(0, capacity - 1))
        reserved = ((low, min(capacity, low + draw(st.integers(1, 6)))),)
    return Target(
        name="drawn",
        spaces=(
            MemorySpace(
                "fast",
                4 * draw(_BANDWIDTHS),
                4 * draw(_BANDWIDTHS),
                capacity,
                alignment,
                reserved,
            ),
            MemorySpace("slow", draw(_BANDWIDTHS), draw(_BANDWIDTHS)),
        ),
        flops_per_second=1.0,
        clock_hz=draw(st.sampled_from([1.0, 2.0])),
        copy_engine=CopyEngine(
            max_outstanding_prefetches=draw(_LIMITS),
            max_outstanding_evictions=draw(_LIMITS),
            startup_s=draw(_STARTUPS),
            max_slices=draw(st.sampled_from([4, 4, 2, 1])),
        ),
        cross_program_prefetches=draw(st.sampled_from([1, 1, 2, 0])),
    )


@st.composite
def problems(
    draw: st.DrawFn,
    cost_model: CostModel | None = None,
    *,
    max_instructions: int = 12,
    max_buffers: int = 6,
    max_loops: int = 3,
    pinned: bool = False,
) -> Problem:
    """A program on a target.

    Args:
        draw: Given by Hypothesis.
        cost_model: ``None``: either.
        max_instructions: As for ``programs``, like those below.
        max_buffers: See there.
        max_loops: See there.
        pinned: See there.
    """
    chosen = cost_model or draw(st.sampled_from(CostModel))
    program = draw(
        programs(
            max_instructions=max_instructions,
            max_buffers=max_buffers,
            max_loops=max_loops,
            observed=True if chosen is CostModel.CYCLES else None,
            pinned=pinned,
        )
    )
    return Problem(program, draw(targets()), chosen)


@st.composite
def _instructions(
    draw: st.DrawFn, name: str, sizes: list[int], defined: frozenset[int]
) -> Instruction:
    least = min(len(sizes), draw(st.integers(0, 3)))
    buffers = st.lists(_indices(len(sizes)), min_size=least, max_size=4, unique=True)
    return Instruction(
        name,
        draw(_SECONDS),
        tuple(draw(_accesses(b, sizes[b], b in defined)) for b in draw(buffers)),
        scratch_bytes=draw(st.integers(1, 8)) if draw(_RARELY) else 0,
    )


@cache
def _accesses(buffer: int, size: int, defined: bool) -> st.SearchStrategy[Access]:
    whole = [Access(buffer, 0, written, whole=True) for written in (size, size, 0)]
    part = [
        Access(buffer, read, written)
        for read in (size, size, 1, 2 * size, 0)
        for written in (0, 0, 1, size)
    ]
    return st.sampled_from(part + 4 * whole if defined else whole)


@cache
def _indices(count: int) -> st.SearchStrategy[int]:
    return st.sampled_from(range(count))


@st.composite
def _observations(
    draw: st.DrawFn, instruction: Instruction, *, first: bool
) -> tuple[Observation, ...]:
    """With ``h`` if it is the program's first instruction, otherwise mostly."""
    touched = [access.buffer for access in instruction.accesses]
    placements: list[tuple[int, ...]] = [()] if first or not draw(_RARELY) else []
    if touched:
        subsets = st.sets(st.sampled_from(touched), min_size=1).map(sorted).map(tuple)
        placements += draw(st.lists(subsets, max_size=3, unique=True))
    return tuple(Observation(fast, draw(_CYCLES)) for fast in placements)


@st.composite
def _loops(
    draw: st.DrawFn, low: int, high: int, most: int, *, nested: bool
) -> list[Loop]:
    """At most so many loops within [low, high), none of which fills an outer one."""
    loops: list[Loop] = []
    while low < high and len(loops) < most and draw(_MOSTLY):
        start = draw(st.integers(low, high - 1))
        end = draw(st.integers(start + 1, high))
        if nested and end - start == high - low:
            break
        loops.append(Loop(start, end, draw(_TRIPS)))
        loops += draw(_loops(start, end, most - len(loops), nested=True))
        low = end
    return loops
