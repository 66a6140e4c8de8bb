"""The inner loops of hiding copies in idle time, compiled.

*Clock* is the idle time (T+1,) before each point, in seconds of one run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled

TOLERANCE = 1e-12
"""Seconds by which a copy may seem late and still be on time: rounding."""


class Waiting(NamedTuple):
    """Copies in the order in which they are issued."""

    issue: Ints
    """(copies,): the point at which each is issued."""
    due: Ints
    """(copies,): the point at which each is due."""
    work: Floats
    """(copies,): the seconds of one run that each takes."""


class Times(NamedTuple):
    """When copies progress on the clock."""

    total: Floats
    """(copies,): the work of each and of all before it."""
    done: Floats
    """(copies,): when each is complete."""
    spare: Floats
    """(copies,): how much later each may begin so that all are on time; negative if
    one is late."""


@compiled
def tick(
    clock: Floats,
    idle: Floats,
    hope: Floats,
    runs: Floats,
    stalls: Floats,
    claimed: Floats,
    since: int,
) -> None:
    """Bring a clock up to date from a point on.

    Args:
        clock: (T+1,): changes after the point.
        idle: (T,): idle time of each instruction, in seconds.
        hope: (T,): seconds that it counts as at least.
        runs: (T,): how often each runs.
        stalls: (T,): seconds of one run that there are besides.
        claimed: (T,): seconds of one run that there are not.
        since: The point.
    """
    for t in range(since, len(idle)):
        left = max(idle[t], hope[t]) * runs[t] + stalls[t] - claimed[t]
        clock[t + 1] = clock[t] + max(0.0, left)


@compiled
def progress(clock: Floats, copies: Waiting) -> tuple[Floats, Floats, Floats]:
    """When copies progress, first in, first out: the fields of ``Times``."""
    issue, due, work = copies
    count = len(work)
    total, done, spare = np.empty(count), np.empty(count), np.empty(count)
    work_so_far, latest = 0.0, -np.inf
    for k in range(count):
        work_so_far += work[k]
        latest = max(latest, clock[issue[k]] - (work_so_far - work[k]))
        total[k], done[k] = work_so_far, work_so_far + latest
    gap = 0.0
    for k in range(count):
        if k:
            gap += max(0.0, clock[issue[k]] - done[k - 1])
        spare[k] = gap
    least = np.inf
    for k in range(count - 1, -1, -1):
        least = min(least, clock[due[k]] - done[k] + spare[k])
        spare[k] = least - spare[k]
    return total, done, spare


@compiled
def latest_issue(
    clock: Floats, copies: Waiting, times: Times, due: int, work: float, earliest: int
) -> int:
    """The latest point to issue a copy at so that it and all others are on time.

    Args:
        clock: Idle time before each point.
        copies: The others.
        times: Theirs.
        due: When the copy must be complete.
        work: Its seconds.
        earliest: The first point allowed.

    Returns:
        The point, or -1 if there is none.
    """
    count, found = len(copies.work), -1
    for place in range(np.searchsorted(copies.issue, due, side="right"), -1, -1):
        until, by, before = due, clock[due], -np.inf
        first = earliest
        if place:
            before = times.done[place - 1]
            first = max(first, copies.issue[place - 1])
        if place < count:
            issue = copies.issue[place]
            if issue <= found or issue < earliest:
                break  # as are all copies before this one
            by = min(by, max(before, clock[issue]) + times.spare[place])
            until = min(until, issue)
        begin = by - work + TOLERANCE
        if before <= begin:
            issue = min(np.searchsorted(clock, begin, side="right") - 1, until)
            if issue >= first:
                found = max(found, issue)
    return found


@compiled
def lateness_with(
    clock: Floats, copies: Waiting, place: int, issue: int, due: int, work: float
) -> float:
    """By how much the latest copy misses its due point if one more is put in.

    Args:
        clock: Idle time before each point.
        copies: The others.
        place: How many of them are before it.
        issue: Of the copy.
        due: Of the copy.
        work: Of the copy, in seconds.
    """
    total, latest, late = 0.0, -np.inf, 0.0
    for k in range(len(copies.work) + 1):
        if k == place:
            begin, end, seconds = issue, due, work
        else:
            other = k - (k > place)
            begin, end = copies.issue[other], copies.due[other]
            seconds = copies.work[other]
        total += seconds
        latest = max(latest, clock[begin] - (total - seconds))
        late = max(late, total + latest - clock[end])
    return late if late > TOLERANCE else 0.0


@compiled
def free_time(
    clock: Floats, copies: Waiting, times: Times, start: int, end: int, enough: float
) -> Floats:
    """The idle time in which no copy progresses.

    Args:
        clock: Idle time before each point.
        copies: Which progress as soon as they can.
        times: Theirs.
        start: The first instruction.
        end: The instruction after the last.
        enough: Seconds; what comes after them is not looked at.

    Returns:
        (instructions,): seconds of one run, from ``start`` until they are enough, or
        until ``end``.
    """
    free = np.empty(max(0, end - start))
    seconds, before = 0.0, _progress_at(clock[start], copies, times)
    for t in range(start, end):
        after = _progress_at(clock[t + 1], copies, times)
        free[t - start] = max(0.0, clock[t + 1] - clock[t] - (after - before))
        seconds += free[t - start]
        if seconds >= enough:
            return free[: t + 1 - start]
        before = after
    return free


@compiled
def _progress_at(now: float, copies: Waiting, times: Times) -> float:
    """The work that is done at a time of the clock."""
    total, done, _ = times
    count = len(done)
    after = np.searchsorted(done, now, side="right")
    if after < count and done[after] - copies.work[after] <= now:
        since, until = done[after] - copies.work[after], done[after]
        low, high = total[after] - copies.work[after], total[after]
    elif after == 0:
        return 0.0
    elif after == count:
        return float(total[-1])
    else:
        since, until = done[after - 1], done[after] - copies.work[after]
        low, high = total[after - 1], total[after] - copies.work[after]
    if since == now:
        return float(low)
    return float((high - low) / (until - since) * (now - since) + low)
