"""The bandwidth of copies, and how many may overlap, as XLA counts them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled

ROUNDING = 1e-12
"""Seconds by which a copy may be late."""
NEVER = 2**62
"""The point at which a number not in use is issued, and due."""

AsyncCopy = tuple[int, int, float]
"""Issued after a time, complete before a time, seconds of the copy."""


class _Queue(NamedTuple):
    """Copies by their numbers, in a ring; number 0 is before all and behind all."""

    points: Ints
    """(2, numbers): the points at which each is issued, and is due."""
    seconds: Floats
    """(2, numbers): what each takes, and when on the clock it is complete."""
    neighbours: Ints
    """(2, numbers): the numbers before and behind each."""
    last: Ints
    """(T+1,): the last that is issued at each point, or 0."""


class CopyResource:
    """Copies of one direction, served first in, first out.

    Each instruction lends the copies under way its whole time. Source: openxla/xla,
    ``AsynchronousCopyResource`` in ``memory_space_assignment/algorithm.h``.
    """

    def __init__(self, elapsed: Floats, most: int, wanted: int | None = None) -> None:
        """Begin without copies.

        Args:
            elapsed: (T,): the seconds that each instruction lends.
            most: How many copies may overlap, whatever is wanted.
            wanted: How many are to overlap; by default ``most``.
        """
        self._clock: Floats = np.concatenate(([0.0], np.cumsum(elapsed)))
        self._most = most
        self._wanted = most if wanted is None else wanted
        self._queue = _Queue(
            np.full((2, 64), NEVER, np.int64),
            np.zeros((2, 64)),
            np.zeros((2, 64), np.int64),
            np.zeros(len(elapsed) + 1, np.int64),
        )
        self._unused = list(range(63, 0, -1))
        self._starts: list[int] = []
        self._ends: list[int] = []

    def may_overlap(self, copies: int, start: int, end: int, extra: int = 0) -> bool:
        """Whether so many more copies may be under way from one time to another."""
        begun = bisect_right(self._starts, end)
        over = bisect_left(self._ends, start + 1)
        return begun - over + copies <= min(self._wanted + extra, self._most)

    def fits(self, *copies: AsyncCopy) -> bool:
        """Whether these copies, and all that wait behind them, are complete in time."""
        if len(copies) == 1:
            return self._fits(*copies[0])
        added = []
        fit = True
        for copy in copies:
            fit = self._fits(*copy)
            if not fit:
                break
            self.add(copy)
            added.append(copy)
        for copy in added:
            self.remove(copy)
        return fit

    def _fits(self, start: int, end: int, seconds: float) -> bool:
        if seconds <= 0:
            return True
        return bool(_fits(self._clock, self._queue, start + 1, end, seconds))

    def add(self, copy: AsyncCopy) -> None:
        """Take in a copy."""
        start, end, seconds = copy
        insort(self._starts, start + 1)
        insort(self._ends, end)
        if not self._unused:
            self._grow()
        _add(self._clock, self._queue, self._unused.pop(), start + 1, end, seconds)

    def _grow(self) -> None:
        points, seconds, neighbours, last = self._queue
        count = points.shape[1]
        self._queue = _Queue(
            np.concatenate((points, np.full_like(points, NEVER)), axis=1),
            np.concatenate((seconds, seconds), axis=1),
            np.concatenate((neighbours, neighbours), axis=1),
            last,
        )
        self._unused = list(range(2 * count - 1, count - 1, -1))

    def remove(self, copy: AsyncCopy) -> None:
        """Leave out a copy that was taken in."""
        start, end, seconds = copy
        del self._starts[bisect_left(self._starts, start + 1)]
        del self._ends[bisect_left(self._ends, end)]
        number = _remove(self._clock, self._queue, start + 1, end, seconds)
        self._unused.append(number)

    def ordered(self, start: int, end: int) -> bool:
        """Whether a copy would neither overtake another nor be overtaken."""
        issue, due = self._queue.points
        overtaken = (issue < start + 1) & (due > end)
        overtakes = (issue > start + 1) & (due < end)
        return not bool((overtaken | overtakes).any())


@compiled
def _before(queue: _Queue, issue: int) -> int:
    """The last copy that is issued at a point or earlier."""
    point = issue
    while point > 0 and queue.last[point] == 0:
        point -= 1
    return int(queue.last[point])


@compiled
def _finish(clock: Floats, queue: _Queue, first: int) -> None:
    """Bring the times at which copies are complete up to date, from one copy on."""
    seconds, number = queue.seconds, first
    while number != 0:
        before = queue.neighbours[0, number]
        done = max(clock[queue.points[0, number]], seconds[1, before])
        done += seconds[0, number]
        if number != first and done == seconds[1, number]:
            return  # nor does anything change behind it
        seconds[1, number] = done
        number = queue.neighbours[1, number]


@compiled
def _add(
    clock: Floats, queue: _Queue, number: int, issue: int, due: int, work: float
) -> None:
    """Put a copy in, behind those issued at the same point."""
    before = _before(queue, issue)
    behind = queue.neighbours[1, before]
    queue.points[0, number], queue.points[1, number] = issue, due
    queue.seconds[0, number] = work
    queue.neighbours[0, number], queue.neighbours[1, number] = before, behind
    queue.neighbours[1, before] = queue.neighbours[0, behind] = number
    queue.last[issue] = number
    _finish(clock, queue, number)


@compiled
def _remove(clock: Floats, queue: _Queue, issue: int, due: int, work: float) -> int:
    """Take a copy out, the first of several that are alike; its number."""
    found, number = 0, queue.last[issue]
    while number != 0 and queue.points[0, number] == issue:
        if queue.points[1, number] == due and queue.seconds[0, number] == work:
            found = number
        number = queue.neighbours[0, number]
    before, behind = queue.neighbours[0, found], queue.neighbours[1, found]
    queue.neighbours[1, before], queue.neighbours[0, behind] = behind, before
    if queue.last[issue] == found:
        queue.last[issue] = before if queue.points[0, before] == issue else 0
    queue.points[0, found] = queue.points[1, found] = NEVER
    _finish(clock, queue, behind)
    return int(found)


@compiled
def _fits(clock: Floats, queue: _Queue, issue: int, due: int, work: float) -> bool:
    """Whether a copy put in, and those behind it, are complete in time."""
    before = _before(queue, issue)
    done = max(clock[issue], queue.seconds[1, before]) + work
    if done > clock[due] + ROUNDING:
        return False
    number = queue.neighbours[1, before]
    while number != 0:
        if done <= clock[queue.points[0, number]]:
            return True
        done += queue.seconds[0, number]
        if done > clock[queue.points[1, number]] + ROUNDING:
            return False
        number = queue.neighbours[1, number]
    return True
