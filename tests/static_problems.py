"""Small static problems for tests, and every placement of one."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem

INSTANTS = 6


@st.composite
def small_buffers(
    draw: st.DrawFn, name: str = "b", *, windows: bool = True
) -> StaticBuffer:
    """A buffer of few bytes and a short life, perhaps with a gap or a fixed offset."""
    start = draw(st.integers(0, INSTANTS - 1))
    end = draw(st.integers(start, INSTANTS))
    size = draw(st.integers(0, 4))
    gaps: tuple[Gap, ...] = ()
    if end > start and draw(st.booleans()):
        low = draw(st.integers(start, end - 1))
        window = None
        if windows and draw(st.booleans()):
            first = draw(st.integers(0, size))
            window = (first, draw(st.integers(first, size)))
        gaps = (Gap(low, draw(st.integers(low + 1, end)), window),)
    alignment = draw(st.sampled_from([1, 1, 2, 3]))
    offset = draw(st.none() | st.integers(0, 5)) if draw(st.booleans()) else None
    return StaticBuffer(name, size, start, end, alignment, gaps, offset)


@st.composite
def small_problems(
    draw: st.DrawFn, most: int = 5, *, windows: bool = True
) -> StaticProblem:
    """A few buffers and a capacity."""
    count = draw(st.integers(0, most))
    buffers = [draw(small_buffers(f"b{i}", windows=windows)) for i in range(count)]
    capacity = draw(st.integers(0, 9))
    reserved = draw(st.sampled_from([(), (), ((3, 4),), ((5, 7), (1, 2))]))
    return StaticProblem("small", tuple(buffers), capacity, reserved)


def exists(problem: StaticProblem) -> bool:
    """Whether any offsets fit, of all that there are."""
    assert problem.capacity is not None
    return _can_place(problem, frozenset(), 0)


def _can_place(
    problem: StaticProblem, taken: frozenset[tuple[int, int]], index: int
) -> bool:
    """Whether the buffers from an index on fit beside taken pairs of instant, byte."""
    if index == len(problem):
        return True
    buffer, capacity = problem.buffers[index], problem.capacity or 0
    offsets = range(capacity - buffer.size + 1)
    for offset in offsets:
        if offset % buffer.alignment or buffer.offset not in (None, offset):
            continue
        own = {
            pair
            for r in buffer.rectangles
            for pair in product(
                range(r.start, r.end), range(offset + r.low, offset + r.high)
            )
        }
        is_reserved = any(
            low <= byte < high for _, byte in own for low, high in problem.reserved
        )
        is_free = not is_reserved and own.isdisjoint(taken)
        if is_free and _can_place(problem, taken | own, index + 1):
            return True
    return False


def least_capacity(problem: StaticProblem, most: int) -> int | None:
    """The least capacity at which some offsets fit, up to the most to try."""
    tries = (
        StaticProblem(problem.name, problem.buffers, capacity, problem.reserved)
        for capacity in range(most + 1)
    )
    return next((x.capacity for x in tries if exists(x)), None)
