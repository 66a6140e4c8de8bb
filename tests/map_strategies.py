"""Hypothesis strategies: memory maps of a problem, most of them plausible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Loop, Memory, Program

_RARELY = st.sampled_from([False] * 9 + [True])
_SOMETIMES = st.sampled_from([False] * 2 + [True])


@st.composite
def memory_maps(
    draw: st.DrawFn, problem: Problem, *, max_allocations: int = 5
) -> MemoryMap:
    """Maps that could be meant, often valid and often not; each can be constructed.

    Args:
        draw: Given by Hypothesis.
        problem: What the map is for.
        max_allocations: About the most allocations; a pair may go beyond.
    """
    placed: list[Allocation] = []
    kinds = [_stays(problem)] * 8 + [_cross_program_stays(problem), _any_stays(problem)]
    counts = [*range(max_allocations + 1), *range(2, max_allocations + 1)]
    for _ in range(draw(st.sampled_from(counts))):
        stays = draw(draw(st.sampled_from(kinds)))
        if stays and (not _again(placed, stays) or draw(_RARELY)):
            offset = draw(_offsets(problem, placed, stays))
            placed += [replace(stay, offset=offset) for stay in stays]
    return MemoryMap(tuple(placed))


@st.composite
def _stays(draw: st.DrawFn, problem: Problem) -> list[Allocation]:
    """A stay over some uses of a buffer within one body, evicted if it is written."""
    program = problem.program
    eligible = [
        b
        for b, buffer in enumerate(program.buffers)
        if program.uses[b]
        and buffer.memory is not Memory.SLOW
        and buffer.size <= problem.target.capacity
    ]
    if not eligible:
        return []
    buffer = draw(st.sampled_from(eligible))
    points = [use.instruction for use in program.uses[buffer]]
    first = draw(st.sampled_from(points))
    body = draw(st.sampled_from(list(_bodies(program, first))))
    last = draw(st.sampled_from([t for t in points if first <= t < body.end]))
    begin, _ = _block(program, body, first)
    _, end = _block(program, body, last)
    covered = [use for use in program.uses[buffer] if begin <= use.instruction < end]
    stay = Allocation(buffer, None, begin, end)
    if not (covered[0].access.whole and covered[0].instruction == begin):
        before = [x.instruction for x in program.uses[buffer] if x.access.writes]
        before = [t for t in before if body.start <= t < begin]
        earliest = _block(program, body, before[-1])[1] if before else body.start
        stay = draw(_fetched(problem, stay, earliest=earliest))
    written = [use.instruction for use in covered if use.access.writes]
    if written if not draw(_RARELY) else draw(st.booleans()):
        after = _block(program, body, written[-1] if written else last)[1]
        later = [t for t in points if end <= t < body.end and not draw(_RARELY)]
        room = _block(program, body, later[0])[0] if later else body.end
        issue = draw(st.one_of(st.just(after), st.integers(after, max(after, room))))
        due = draw(st.integers(issue, max(issue, room)))
        stay = replace(stay, end=max(end, due), eviction=Eviction(issue, due))
    return [stay]


def _again(placed: list[Allocation], stays: list[Allocation]) -> bool:
    """Whether a buffer would have two allocations at one time."""
    return any(
        stay.buffer == other.buffer
        and stay.start < other.end
        and other.start < stay.end
        for stay in stays
        for other in placed
    )


def _bodies(program: Program, t: int) -> Iterator[Loop]:
    """The whole program, as if it were a loop, and the loops around an instruction."""
    yield Loop(0, len(program), trip_count=1)
    for loop in program.loops:
        if loop.start <= t < loop.end:
            yield loop


def _block(program: Program, body: Loop, t: int) -> tuple[int, int]:
    """The instruction, or the outermost loop around it that the body contains."""
    for loop in program.loops:
        if loop.start <= t < loop.end and loop != body and body.encloses(loop):
            return loop.start, loop.end
    return t, t + 1


@st.composite
def _fetched(
    draw: st.DrawFn, problem: Problem, stay: Allocation, *, earliest: int
) -> Allocation:
    """The stay as a prefetch that is ready where the stay starts, sliced sometimes."""
    size = problem.program.buffers[stay.buffer].size
    alignment = problem.target.fast.alignment
    start = draw(st.integers(earliest, stay.start))
    slices: tuple[Slice, ...] = ()
    inner = range(alignment, size, alignment)
    if inner and draw(_SOMETIMES):
        most = problem.target.copy_engine.max_slices
        cuts = draw(st.sets(st.sampled_from(inner), max_size=min(most - 1, len(inner))))
        edges = [0, *sorted(cuts), size]
        issues = [draw(st.integers(start, stay.start)) for _ in edges[1:]]
        issues[draw(st.sampled_from(range(len(issues))))] = start
        slices = tuple(
            Slice(high - low, issue)
            for low, high, issue in zip(edges, edges[1:], issues, strict=False)
        )
    return replace(
        stay, start=start, ready=stay.start, origin=Origin.PREFETCHED, slices=slices
    )


@st.composite
def _cross_program_stays(draw: st.DrawFn, problem: Problem) -> list[Allocation]:
    """A cross-program prefetch of an input in either form."""
    total = len(problem.program)
    inputs = [b for b, x in enumerate(problem.program.buffers) if x.is_input]
    if not inputs:
        return []
    whole = Allocation(
        draw(st.sampled_from(inputs)), None, 0, total, Origin.CROSS_PROGRAM
    )
    end = draw(st.integers(1, total))
    if end == total:
        return [whole]
    start = draw(st.integers(end, total - 1))
    return [replace(whole, end=end), replace(whole, start=start, ready=total)]


@st.composite
def _any_stays(draw: st.DrawFn, problem: Problem) -> list[Allocation]:
    """A stay that need not make sense."""
    total = len(problem.program)
    start = draw(st.integers(0, total - 1))
    end = draw(st.integers(start + 1, total))
    origin = draw(st.sampled_from(Origin))
    ready = start if origin is Origin.PRODUCED else draw(st.integers(start, end))
    issue = draw(st.integers(start + 1, end))
    eviction = Eviction(issue, draw(st.integers(issue, end)))
    return [
        Allocation(
            draw(st.sampled_from(range(len(problem.program.buffers)))),
            None,
            start,
            end,
            origin,
            ready,
            eviction=draw(st.sampled_from([None, eviction])),
        )
    ]


def _offsets(
    problem: Problem, placed: list[Allocation], stays: list[Allocation]
) -> st.SearchStrategy[int]:
    """Where the stays, all at one offset, fit; elsewhere rarely or if they do not."""
    fast, capacity = problem.target.fast, problem.target.capacity
    buffers = problem.program.buffers
    size, fixed = buffers[stays[0].buffer].size, buffers[stays[0].buffer].offset
    taken = list(fast.reserved)
    for stay in stays:
        spanned = problem.program.instructions[stay.start : stay.end]
        taken.append((0, max(x.scratch_bytes for x in spanned)))
        taken += [
            (other.offset, other.offset + buffers[other.buffer].size)
            for other in placed
            if other.offset is not None
            and other.start < stay.end
            and stay.start < other.end
        ]
    fitting = [
        offset
        for offset in range(0, capacity - size + 1, fast.alignment)
        if all(offset + size <= low or high <= offset for low, high in taken)
        and fixed in (None, offset)
    ]
    aligned = range(0, max(1, capacity - size + 1), fast.alignment)
    return st.sampled_from(fitting * 20 + [*aligned, capacity] if fitting else aligned)
