"""How much is live when, and the capacity that no placement goes below."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.units import common_alignment


@dataclass(frozen=True, slots=True)
class Peak:
    """The first instant at which the most bytes are live."""

    instant: int
    bytes: int
    """With what lies between, where that counts."""
    buffers: tuple[str, ...]
    """The names of those that are live then, largest first."""


def peak_of(buffers: Sequence[StaticBuffer], step: int = 1) -> Peak:
    """When the most bytes are live.

    Args:
        buffers: Those that may be live.
        step: Bytes; of what is live all but one counts up to the next multiple.

    >>> a, b = StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 2, 2, 5)
    >>> peak_of([a, b])
    Peak(instant=2, bytes=6, buffers=('a', 'b'))
    """
    instant, most = _most(buffers, step)
    return Peak(instant, most, tuple(live_at(buffers, instant)))


def live_at(buffers: Iterable[StaticBuffer], instant: int) -> dict[str, int]:
    """The bytes that buffers take at an instant, by their names, largest first."""
    sizes = {
        x.name: r.high - r.low
        for x in buffers
        if x.start <= instant < x.end
        for r in x.rectangles
        if r.start <= instant < r.end
    }
    return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))


def live_bytes(buffers: Iterable[StaticBuffer]) -> tuple[Ints, Ints]:
    """(points,), (points,): when the bytes that are live change, and to how many."""
    return _profile(*_shapes(buffers))


def lower_bound(problem: StaticProblem) -> int:
    """A capacity, in bytes, that no placement goes below.

    Of all that is live at one time, each but the topmost takes its bytes up to the next
    possible offset; and what is reserved below the top is not to be had.
    """
    buffers = problem.buffers
    bound = max(((x.offset or 0) + x.size for x in buffers), default=0)
    for step in (1, common_alignment(problem)):
        _, load = _most(buffers, step)
        # What is reserved may lie between two buffers, but not where it fills a step.
        whole = [
            (-(-low // step) * step, high // step * step)
            for low, high in problem.merged_ranges
        ]
        bound = max(bound, load)
        while load and (wanted := load + _covered(whole, bound)) > bound:
            bound = wanted
    return bound


def _most(buffers: Sequence[StaticBuffer], step: int) -> tuple[int, int]:
    """When the most bytes are live, and how many, each but one padded to a step."""
    start, end, sizes = _shapes(buffers)
    if not len(sizes):
        return min((x.start for x in buffers), default=0), 0
    padding = -sizes % step
    points, load = _profile(start, end, sizes + padding)
    if padding.any():
        load -= _largest(points, start, end, padding)
    first = load.argmax()
    return int(points[first]), int(load[first])


def _largest(points: Ints, start: Ints, end: Ints, values: Ints) -> Ints:
    """(points,): the largest value of what is live at each; 0 where nothing is."""
    order = np.argsort(start, kind="stable")
    waiting = deque(np.stack((start, -values, end), axis=1)[order].tolist())
    live: list[list[int]] = []
    largest = []
    for point in points.tolist():
        while waiting and waiting[0][0] <= point:
            heappush(live, waiting.popleft()[1:])
        while live and live[0][1] <= point:
            heappop(live)
        largest.append(-live[0][0] if live else 0)
    return np.array(largest, np.int64)


def _shapes(buffers: Iterable[StaticBuffer]) -> Ints:
    """(3, rectangles): when each starts and ends, and its bytes."""
    shapes = [(r.start, r.end, r.high - r.low) for x in buffers for r in x.rectangles]
    return np.array(shapes, np.int64).reshape(-1, 3).T


def _profile(start: Ints, end: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """(points,), (points,): when the bytes that are live change, and to how many."""
    points = np.unique((start, end))
    change = np.zeros(len(points), np.int64)
    np.add.at(change, np.searchsorted(points, start), sizes)
    np.add.at(change, np.searchsorted(points, end), -sizes)
    return points, np.cumsum(change)


def _covered(ranges: Iterable[tuple[int, int]], capacity: int) -> int:
    """The bytes below a capacity in ranges of which no two meet."""
    return sum(max(0, min(high, capacity) - low) for low, high in ranges)
