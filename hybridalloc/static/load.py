"""How much is live when, and the capacity that no placement goes below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.units import common_alignment


@dataclass(frozen=True, slots=True)
class Peak:
    """The first instant at which the most bytes are live."""

    instant: int
    bytes: int
    buffers: tuple[str, ...]
    """The names of those that are live then, largest first."""


def peak_of(buffers: Sequence[StaticBuffer]) -> Peak:
    """When the most bytes are live.

    >>> a, b = StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 2, 2, 5)
    >>> peak_of([a, b])
    Peak(instant=2, bytes=6, buffers=('a', 'b'))
    """
    instant, most = _most(buffers, 1)
    live = sorted(
        live_at(buffers, instant), key=lambda x: (-bytes_at(x, instant), x.name)
    )
    return Peak(instant, most, tuple(x.name for x in live))


def live_at(buffers: Iterable[StaticBuffer], instant: int) -> list[StaticBuffer]:
    """The buffers that take some bytes at an instant."""
    return [x for x in buffers if bytes_at(x, instant) > 0]


def bytes_at(buffer: StaticBuffer, instant: int) -> int:
    """The bytes that a buffer takes at an instant."""
    if not buffer.start <= instant < buffer.end:
        return 0
    now = (r for r in buffer.rectangles if r.start <= instant < r.end)
    return next((r.high - r.low for r in now), 0)


def lower_bound(problem: StaticProblem) -> int:
    """A capacity, in bytes, that no placement goes below.

    Of all that is live at one time, each but the topmost takes its bytes up to the next
    possible offset; and what is reserved below the top is not to be had.
    """
    buffers = problem.buffers
    _, load = _most(buffers, common_alignment(problem))
    alone = max(((x.offset or 0) + x.size for x in buffers), default=0)
    capacity, wanted = -1, max(load, alone)
    while wanted > capacity:
        capacity = wanted
        below = (x for x in problem.reserved if x[0] < capacity)
        wanted = max(capacity, load + _covered(below, capacity)) if load else capacity
    return capacity


def _most(buffers: Sequence[StaticBuffer], step: int) -> tuple[int, int]:
    """When the most bytes are live, and how many, each but one padded to a step."""
    shapes = [(r.start, r.end, r.high - r.low) for x in buffers for r in x.rectangles]
    if not shapes:
        return min((x.start for x in buffers), default=0), 0
    start, end, sizes = np.array(shapes, np.int64).T
    padding = -sizes % step
    points = np.unique((start, end))
    change = np.zeros(len(points), np.int64)
    np.add.at(change, np.searchsorted(points, start), sizes + padding)
    np.add.at(change, np.searchsorted(points, end), -sizes - padding)
    load = np.cumsum(change)
    instant, most = int(points[0]), 0
    for i in np.argsort(-load, kind="stable").tolist():
        if load[i] <= most:
            break
        is_live = (start <= points[i]) & (points[i] < end)
        bare = int(load[i] - padding[is_live].max())
        if bare > most:
            instant, most = int(points[i]), bare
    return instant, most


def _covered(ranges: Iterable[tuple[int, int]], capacity: int) -> int:
    """The bytes below a capacity in any of some ranges."""
    total, reached = 0, 0
    for low, high in sorted(ranges):
        low, high = max(low, reached), min(high, capacity)
        total += max(0, high - low)
        reached = max(reached, high)
    return total
