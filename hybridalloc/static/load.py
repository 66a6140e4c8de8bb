"""How much is live when, and the capacity that no placement goes below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from hybridalloc.static.problem import StaticBuffer, StaticProblem


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
    step = 0 if problem.has_windows else gcd(*(x.alignment for x in buffers))
    _, load = _most(buffers, max(step, 1))
    alone = max(((x.offset or 0) + x.size for x in buffers), default=0)
    capacity, wanted = -1, max(load, alone)
    while wanted > capacity:
        capacity = wanted
        below = (x for x in problem.reserved if x[0] < capacity)
        wanted = max(capacity, load + _covered(below, capacity)) if load else capacity
    return capacity


def unit_of(problem: StaticProblem) -> int:
    """The bytes of which each offset of a canonical placement is a multiple.

    >>> a, b = StaticBuffer("a", 48, 0, 3), StaticBuffer("b", 32, 0, 3, alignment=64)
    >>> unit_of(StaticProblem("p", (a, b))), unit_of(StaticProblem("p", (a,)))
    (16, 48)
    """
    sizes = [x.size for x in problem.buffers]
    sizes += [x.offset for x in problem.buffers if x.offset is not None]
    sizes += [byte for x in problem.reserved for byte in x]
    for buffer in problem.buffers:
        sizes += [byte for r in buffer.rectangles for byte in (r.low, r.high)]
    unit = max(1, gcd(*sizes))
    alignments = {x.alignment for x in problem.buffers}
    while any(unit % x for x in alignments if x % unit):
        unit = gcd(unit, *(x for x in alignments if unit % x and x % unit))
    return unit


def _most(buffers: Sequence[StaticBuffer], step: int) -> tuple[int, int]:
    """When the most bytes are live, and how many, each but one padded to a step."""
    shapes = [(r, r.high - r.low) for x in buffers for r in x.rectangles]
    if not shapes:
        return min((x.start for x in buffers), default=0), 0
    times = np.array([(r.start, r.end) for r, _ in shapes], np.int64)
    sizes = np.array([size for _, size in shapes], np.int64)
    padding = -sizes % step
    points = np.unique(times)
    start, end = np.searchsorted(points, times.T)
    live = np.zeros(len(points), np.int64)
    np.add.at(live, start, sizes + padding)
    np.add.at(live, end, -sizes - padding)
    load = np.cumsum(live)
    if padding.any():
        load -= np.minimum(padding.max(), load)
    at = int(np.argmax(load))
    return int(points[at]), int(load[at])


def _covered(ranges: Iterable[tuple[int, int]], capacity: int) -> int:
    """The bytes below a capacity in any of some ranges."""
    total, reached = 0, 0
    for low, high in sorted(ranges):
        low, high = max(low, reached), min(high, capacity)
        total += max(0, high - low)
        reached = max(reached, high)
    return total
