"""When to issue copies so that they hide in the idle time of instructions."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from hybridalloc.arrays import Floats, Ints

TOLERANCE = 1e-12
"""Seconds by which a copy may seem late and still be on time: rounding."""


Name = TypeVar("Name")


class Queue(Generic[Name]):
    """Copies that wait for idle time, first in, first out.

    *Clock* is the idle time (T+1,) before each point, in seconds of one run: a copy in
    a loop body counts as all its repetitions together. With the copies in order of
    issue, copy k is complete at idle time ``F[k] = max(F[k-1], clock[issue[k]]) +
    work[k]``, and on time if ``F[k] <= clock[due[k]]``.
    """

    def __init__(self) -> None:
        self._names: list[Name] = []
        self._points: Ints = np.zeros((2, 64), np.int64)
        self._seconds: Floats = np.zeros(64)

    @property
    def issue(self) -> Ints:
        """(copies,): the point at which each is issued, in that order."""
        return self._points[0, : len(self._names)]

    @property
    def due(self) -> Ints:
        """(copies,): the point at which each is due."""
        return self._points[1, : len(self._names)]

    @property
    def work(self) -> Floats:
        """(copies,): the seconds of one run that each takes."""
        return self._seconds[: len(self._names)]

    def finish(self, clock: Floats) -> Floats:
        """(copies,): the idle time at which each copy is complete."""
        return _finish(clock, self.issue, self.work)

    def lateness(self, clock: Floats) -> float:
        """By how much the latest copy misses its due point; 0 if all are on time."""
        return _lateness(self.finish(clock), clock[self.due])

    def lateness_with(self, clock: Floats, issue: int, due: int, work: float) -> float:
        """``lateness`` if one more copy were put in."""
        at = self._place(issue, due)
        issues, dues = np.insert(
            self._points[:, : len(self._names)], at, (issue, due), 1
        )
        finish = _finish(clock, issues, np.insert(self.work, at, work))
        return _lateness(finish, clock[dues])

    def latest_issue(self, clock: Floats, due: int, work: float, earliest: int) -> int:
        """The latest point to issue a copy at so that it and all others are on time.

        Args:
            clock: Idle time before each point.
            due: When the copy must be complete.
            work: Its seconds.
            earliest: The first point allowed.

        Returns:
            The point, or -1 if there is none.
        """
        begins, done = clock[self.issue], self.finish(clock)
        # How much later the copy at each place of the queue may begin.
        gaps = np.zeros(len(done))
        gaps[1:] = np.cumsum(np.maximum(0.0, begins[1:] - done[:-1]))
        slack = clock[self.due] - done + gaps
        spare = np.minimum.accumulate(slack[::-1])[::-1] - gaps
        # When a copy put before it must be complete, and can begin.
        before = np.concatenate(([-np.inf], done))
        by = np.full(len(before), clock[due])
        by[:-1] = np.minimum(by[:-1], np.maximum(before[:-1], begins) + spare)
        begin = by - work + TOLERANCE
        latest = np.searchsorted(clock, begin, side="right") - 1
        latest = np.minimum(latest, np.minimum(due, np.append(self.issue, due)))
        first = np.maximum(earliest, np.concatenate(([0], self.issue)))
        possible = (before <= begin) & (latest >= first)
        return int(latest[possible].max(initial=-1))

    def busy(self, clock: Floats) -> Floats:
        """(T,): the idle time of each instruction in which these copies progress."""
        if not self._names:
            return np.zeros(len(clock) - 1)
        done, total = self.finish(clock), np.cumsum(self.work)
        at = np.stack((done - self.work, done), axis=1).ravel()
        progress = np.stack((total - self.work, total), axis=1).ravel()
        return np.diff(np.interp(clock, at, progress))

    def add(self, name: Name, issue: int, due: int, work: float) -> None:
        """Put in a copy; at one point, the one that is due first is issued first."""
        count = len(self._names)
        if count == len(self._seconds):
            self._points = np.concatenate((self._points, self._points), axis=1)
            self._seconds = np.concatenate((self._seconds, self._seconds))
        at = self._place(issue, due)
        self._points[:, at + 1 : count + 1] = self._points[:, at:count]
        self._seconds[at + 1 : count + 1] = self._seconds[at:count]
        self._points[:, at] = issue, due
        self._seconds[at] = work
        self._names.insert(at, name)

    def _place(self, issue: int, due: int) -> int:
        """How many copies such a copy waits for."""
        before = (self.issue < issue) | ((self.issue == issue) & (self.due <= due))
        return int(np.count_nonzero(before))

    def remove(self, name: Name) -> None:
        """Take out a copy."""
        at, count = self._names.index(name), len(self._names)
        self._points[:, at : count - 1] = self._points[:, at + 1 : count]
        self._seconds[at : count - 1] = self._seconds[at + 1 : count]
        del self._names[at]


def _finish(clock: Floats, issue: Ints, work: Floats) -> Floats:
    total = np.cumsum(work)
    return total + np.maximum.accumulate(clock[issue] - (total - work))


def _lateness(finish: Floats, due: Floats) -> float:
    seconds = float((finish - due).max(initial=0.0))
    return seconds if seconds > TOLERANCE else 0.0
