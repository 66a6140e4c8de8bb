"""What the tests of msa share.

Slow memory moves one byte a second, and fast memory four: an instruction that reads 8
bytes takes 8 seconds, or 2, and a copy of 8 bytes takes 8.
"""

from __future__ import annotations

from collections.abc import Mapping

from named_problems import problem, target

from hybridalloc.baselines.msa import Msa, MsaOptions
from hybridalloc.baselines.msa.assignment import Assignment
from hybridalloc.baselines.msa.copy_resource import CopyResource
from hybridalloc.baselines.msa.heap import Heap
from hybridalloc.baselines.msa.interval_picker import IntervalPicker
from hybridalloc.baselines.msa.lifetimes import Lifetimes
from hybridalloc.checker import check
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Loop
from hybridalloc.solver import Run
from hybridalloc.target import CopyEngine, Target

BIG = Buffer("big", 16, is_input=True)
OTHER = Buffer("other", 16, is_input=True)
NONE: tuple[Access, ...] = ()
"""An instruction that accesses nothing."""


def machine(
    capacity: int = 32,
    *,
    reserved: tuple[tuple[int, int], ...] = (),
    prefetches: int = 40,
    evictions: int = 40,
    slices: int = 4,
    crossing: int = 0,
) -> Target:
    """Without cross-program prefetches unless asked for."""
    engine = CopyEngine(prefetches, evictions, max_slices=slices)
    return target(capacity, reserved, engine, crossing)


def of(
    buffers: tuple[Buffer, ...],
    *instructions: tuple[Access, ...],
    compute: Mapping[int, float] | None = None,
    loops: tuple[Loop, ...] = (),
    on: Target | None = None,
) -> Problem:
    """These instructions, without cross-program prefetches unless the target says."""
    return problem(
        buffers, *instructions, compute=compute, loops=loops, machine=on or machine()
    )


def ticks(
    *seconds: float, loops: tuple[Loop, ...] = (), on: Target | None = None
) -> Problem:
    """Instructions that only compute, for so many seconds each."""
    steps = ((),) * len(seconds)
    return of((), *steps, compute=dict(enumerate(seconds)), loops=loops, on=on)


def reads(buffer: int, size: int = 8) -> Access:
    """So many bytes of a buffer."""
    return Access(buffer, read_bytes=size)


def writes(buffer: int, size: int = 8) -> Access:
    """Every byte of a buffer."""
    return Access(buffer, write_bytes=size, whole=True)


PACKED = of(
    tuple(
        Buffer(name, size) for name, size in zip("abcd", (16, 8, 12, 8), strict=True)
    ),
    (writes(0, 16), writes(1)),
    (reads(0, 16),),
    (writes(3),),
    (writes(2, 12), reads(3)),
    (reads(1), reads(2, 12)),
    on=machine(28),
)
"""Buffers that fit only if all are packed anew."""


def picker(of: Problem, **options: object) -> IntervalPicker:
    """Of a problem; the overlap of a copy is chosen for its own size."""
    return IntervalPicker(of, Loops(of.program), own_size(**options))


def own_size(**options: object) -> MsaOptions:
    """These options, and each copy's own size for its overlap unless they say."""
    chosen = {"prefetch_interval_picker_size_override": 0, **options}
    return MsaOptions(**chosen)  # type: ignore[arg-type]  # the tests' own names


def assignment(of: Problem, **options: object) -> Assignment:
    """Nothing is assigned yet."""
    loops, chosen = Loops(of.program), own_size(**options)
    interval_picker = IntervalPicker(of, loops, chosen)
    engine = of.target.copy_engine
    elapsed = interval_picker.elapsed
    return Assignment(
        problem=of,
        loops=loops,
        lifetimes=Lifetimes(of.program, loops),
        options=chosen,
        picker=interval_picker,
        heap=Heap(of),
        prefetches=CopyResource(elapsed, engine.max_outstanding_prefetches),
        evictions=CopyResource(elapsed, engine.max_outstanding_evictions),
    )


def solve(of: Problem, **options: object) -> MemoryMap:
    """The map of msa, which must be valid."""
    found = Msa(own_size(**options)).solve(of, Run()).map
    assert found is not None
    assert check(of, found) == ()
    return found


def stays(of: Problem, **options: object) -> list[str]:
    """Each allocation of msa's map in words, by start.

    ``w 3>5-9`` is prefetched from 3 to 5 and there until 9; ``x 0-4 out 1>3`` is
    written at 0 and evicted from 1 to 3; ``w ..9`` and ``w 7..`` are cross-program.
    """
    return words(of, solve(of, **options))


def words(of: Problem, memory_map: MemoryMap) -> list[str]:
    """Each allocation of a map in words; see ``stays``."""
    found = []
    for x in memory_map.allocations:
        name, span = of.program.buffers[x.buffer].name, f"{x.start}-{x.end}"
        if x.origin is Origin.PREFETCHED:
            span = f"{x.start}>{x.ready}-{x.end}"
        if x.origin is Origin.CROSS_PROGRAM:
            span = f"{x.start}.." if x.start else f"..{x.end}"
        if x.eviction:
            span += f" out {x.eviction.issue}>{x.eviction.due}"
        found.append(f"{name} {span}")
    return found
