"""When to issue copies so that they hide in the idle time of instructions."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.baselines.idle_time import (
    Times,
    Waiting,
    free_time,
    lateness_with,
    latest_issue,
    progress,
)

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
        self._issues: dict[Name, int] = {}
        self._points: Ints = np.zeros((2, 64), np.int64)
        self._seconds: Floats = np.zeros(64)

    @property
    def copies(self) -> Waiting:
        """The copies, in the order in which they are issued."""
        count = len(self._names)
        issue, due = self._points[:, :count]
        return Waiting(issue, due, self._seconds[:count])

    def times(self, clock: Floats) -> Times:
        """When the copies progress; for other questions about the same clock."""
        return Times(*progress(clock, self.copies))

    def lateness_with(self, clock: Floats, issue: int, due: int, work: float) -> float:
        """By how much the latest copy would miss its due point with one more copy.

        Returns:
            Seconds; 0 if all would be on time.
        """
        place = self._place(issue, due)
        return lateness_with(clock, self.copies, place, issue, due, work)

    def latest_issue(
        self, clock: Floats, times: Times, due: int, work: float, earliest: int
    ) -> int:
        """The latest point to issue a copy at so that it and all others are on time.

        Args:
            clock: Idle time before each point.
            times: When the copies progress then.
            due: When the copy must be complete.
            work: Its seconds.
            earliest: The first point allowed.

        Returns:
            The point, or -1 if there is none.
        """
        return int(latest_issue(clock, self.copies, times, due, work, earliest))

    def free(
        self,
        clock: Floats,
        times: Times,
        start: int,
        end: int,
        enough: float = np.inf,
    ) -> Floats:
        """The idle time of instructions in which no copy progresses.

        Args:
            clock: Idle time before each point.
            times: When the copies progress then.
            start: The first instruction.
            end: The instruction after the last.
            enough: Seconds; what comes after them is not looked at.

        Returns:
            (instructions,): seconds of one run, from ``start`` until they are enough,
            or until ``end``.
        """
        return free_time(clock, self.copies, times, start, end, enough)

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
        self._issues[name] = issue

    def _place(self, issue: int, due: int) -> int:
        """How many copies such a copy waits for."""
        issues, dues, _ = self.copies
        first, last = np.searchsorted(issues, (issue, issue + 1)).tolist()
        after = int(np.searchsorted(dues[first:last], due, side="right"))
        return int(first) + after

    def remove(self, name: Name) -> None:
        """Take out a copy."""
        first = int(np.searchsorted(self.copies.issue, self._issues.pop(name)))
        at, count = self._names.index(name, first), len(self._names)
        self._points[:, at : count - 1] = self._points[:, at + 1 : count]
        self._seconds[at : count - 1] = self._seconds[at + 1 : count]
        del self._names[at]
