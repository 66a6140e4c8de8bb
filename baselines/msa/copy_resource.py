"""The bandwidth of copies, and how many may overlap, as XLA counts them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.simulator.jit import compiled

ROUNDING = 1e-12
"""Seconds by which a copy may be late."""

AsyncCopy = tuple[int, int, float]
"""Issued after a time, complete before a time, seconds of the copy."""


class CopyResource:
    """Copies of one direction, served first in, first out.

    Each instruction lends the copies under way its whole time. Source: openxla/xla,
    ``AsynchronousCopyResource`` in ``memory_space_assignment/algorithm.h``.
    """

    def __init__(self, elapsed: Floats, limit: int) -> None:
        self._clock: Floats = np.concatenate(([0.0], np.cumsum(elapsed)))
        self._limit = limit
        self._count = 0
        self._points: Ints = np.zeros((2, 64), np.int64)
        self._seconds: Floats = np.zeros((2, 64))
        self._starts: list[int] = []
        self._ends: list[int] = []

    def may_overlap(self, copies: int, start: int, end: int, extra: int = 0) -> bool:
        """Whether so many more copies may be under way from one time to another."""
        begun = bisect_right(self._starts, end)
        over = bisect_left(self._ends, start + 1)
        return begun - over + copies <= self._limit + extra

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
        at = self._place(start, end)
        points, times = self._points[:, : self._count], self._seconds[:, : self._count]
        return bool(_fits(self._clock, points, times, at, start + 1, end, seconds))

    def _place(self, issue_after: int, end: int) -> int:
        issues = self._points[0, : self._count]
        return int(np.searchsorted(issues, issue_after + 1, side="right"))

    def add(self, copy: AsyncCopy) -> None:
        """Take in a copy."""
        start, end, seconds = copy
        insort(self._starts, start + 1)
        insort(self._ends, end)
        if self._count == self._points.shape[1]:
            self._points = np.concatenate((self._points, self._points), axis=1)
            self._seconds = np.concatenate((self._seconds, self._seconds), axis=1)
        at, count = self._place(start, end), self._count
        self._points[:, at + 1 : count + 1] = self._points[:, at:count]
        self._seconds[:, at + 1 : count + 1] = self._seconds[:, at:count]
        self._points[:, at] = start + 1, end
        self._seconds[0, at] = seconds
        self._count += 1
        self._update(at)

    def remove(self, copy: AsyncCopy) -> None:
        """Leave out a copy that was taken in."""
        start, end, seconds = copy
        del self._starts[bisect_left(self._starts, start + 1)]
        del self._ends[bisect_left(self._ends, end)]
        count = self._count
        at = int(np.searchsorted(self._points[0, :count], start + 1))
        while (self._points[1, at], self._seconds[0, at]) != (end, seconds):
            at += 1
        self._points[:, at : count - 1] = self._points[:, at + 1 : count]
        self._seconds[:, at : count - 1] = self._seconds[:, at + 1 : count]
        self._count -= 1
        self._update(at)

    def _update(self, at: int) -> None:
        points, times = self._points[:, : self._count], self._seconds[:, : self._count]
        _finish(self._clock, points, times, at)

    def ordered(self, start: int, end: int) -> bool:
        """Whether a copy would neither overtake another nor be overtaken."""
        issue, due = self._points[:, : self._count]
        overtaken = (issue < start + 1) & (due > end)
        overtakes = (issue > start + 1) & (due < end)
        return not bool((overtaken | overtakes).any())


@compiled
def _finish(clock: Floats, points: Ints, seconds: Floats, at: int) -> None:
    """Bring the times at which copies are complete up to date, from one copy on."""
    for i in range(at, points.shape[1]):
        done = clock[points[0, i]]
        if i > 0 and seconds[1, i - 1] > done:
            done = seconds[1, i - 1]
        done += seconds[0, i]
        if i > at and done == seconds[1, i]:
            return  # nor does anything change behind it
        seconds[1, i] = done


@compiled
def _fits(
    clock: Floats,
    points: Ints,
    seconds: Floats,
    at: int,
    issue: int,
    due: int,
    work: float,
) -> bool:
    """Whether a copy put in at a place, and those behind it, are complete in time."""
    done = clock[issue]
    if at > 0 and seconds[1, at - 1] > done:
        done = seconds[1, at - 1]
    done += work
    if done > clock[due] + ROUNDING:
        return False
    for i in range(at, points.shape[1]):
        if done <= clock[points[0, i]]:
            return True
        done += seconds[0, i]
        if done > clock[points[1, i]] + ROUNDING:
            return False
    return True
