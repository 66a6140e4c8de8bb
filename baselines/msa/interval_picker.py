"""When to begin a copy: XLA's cost-analysis prefetch interval picker."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from statistics import median_high

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.baselines.msa.options import MsaOptions
from hybridalloc.cost_model import elapsed
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Loop, Program

EVICTION_RETRY_MULTIPLIER = 2
"""How much longer evictions are wanted with each retry."""
COARSEST = 100
"""About how many earlier times are tried when no later ones are left."""

LEAST_TYPICAL_BYTES = 2**20
"""Smaller values do not count for the typical size."""
ROUNDING = 1e-9
"""By which share of itself a time may be off."""


class IntervalPicker:
    """Weighs what runs beside a copy against the time that the copy takes.

    A *time* is that of an instruction. A copy from ``start`` to ``end`` is issued after
    the one and complete before the other, so that only what is between runs beside it.
    Source: openxla/xla, ``memory_space_assignment/prefetch_interval_picker.cc``.
    """

    def __init__(self, problem: Problem, loops: Loops, options: MsaOptions) -> None:
        program = problem.program
        self._problem = problem
        self._options = options
        everything = range(len(program))
        runs = [options.runs(len(loops.around(t))) for t in everything]
        self._runs: Floats = np.array(runs, np.float64)
        self._innermost = _innermost(program)
        self._number = {loop: i for i, loop in enumerate(program.loops)}
        self._inside: dict[Loop | None, Ints] = {}
        """(n,) ascending: the times in a body and in no loop within, once asked for."""
        self.elapsed: Floats = np.array([elapsed(problem, t, ()) for t in everything])
        """(T,): seconds of each instruction with everything in slow memory."""
        seconds = np.cumsum(self.elapsed * self._runs)
        self._until: Floats = np.concatenate(([0.0], seconds))
        self._clock: list[float] = self._until.tolist()  # quicker for single times
        self._longest = options.max_overlap_to_mem_size_async_copy_ratio * self.copy_s(
            problem.target.capacity
        )
        self._typical = typical_size(program)

    def copy_s(self, size: int) -> float:
        """Seconds that a copy of so many bytes takes."""
        scale = self._options.async_copy_bandwidth_scaling_factor
        return size / (scale * self._problem.target.slow.read_bandwidth)

    def _overlap_unit(self, size: int) -> float:
        """Seconds of the copy for which overlaps are chosen."""
        override = self._options.prefetch_interval_picker_size_override
        return self.copy_s({-1: self._typical, 0: size}.get(override, override))

    def intervals(self, starts: Ints, end: int) -> Floats:
        """Seconds between each start and the end.

        Of one run of the innermost loop around each interval; loops within it count as
        often as XLA takes them to run.

        Args:
            starts: (n,) ascending times before the end; -1 is before the program.
            end: The time.
        """
        seconds: Floats = self._until[end] - self._until[starts + 1]
        if self._number:
            first = max(int(starts[0]), 0)
            least = np.minimum.accumulate(self._runs[first : end + 1][::-1])[::-1]
            seconds = seconds / least[np.maximum(starts, 0) - first]
        return seconds

    def interval(self, start: int, end: int) -> float:
        """Seconds between two times."""
        if start >= end:
            return 0.0
        seconds = self._clock[end] - self._clock[start + 1]
        return seconds / self._least_runs(max(start, 0), end)

    def _least_runs(self, first: int, last: int) -> float:
        """How often the innermost loop around two times, inclusive, runs."""
        runs = self._runs
        if runs[first] == 1 or runs[last] == 1:
            return 1.0
        return float(runs[first : last + 1].min())

    def may_stay(self, start: int, end: int) -> bool:
        """Whether a buffer may wait in fast memory from one time to the other."""
        return self._longest > self.interval(start, end)

    def eviction_end(self, size: int, start: int, limit: int, retry: int) -> int:
        """When an eviction is best complete, at most one past the limit."""
        ratio = self._options.preferred_overlap_to_async_copy_ratio
        wanted = (1 + EVICTION_RETRY_MULTIPLIER * retry) * ratio
        wanted *= self._overlap_unit(size)
        ends = range(start + 1, limit + 1)
        at = bisect_left(ends, wanted, key=lambda end: self.interval(start, end))
        return ends[at] if at < len(ends) else limit + 1

    def latest_start(
        self, size: int, start: int, end: int, body: Loop | None, saved: float
    ) -> int:
        """The last time at which a copy may be issued; ``start - 1`` if there is none.

        Args:
            size: Bytes of the buffer.
            start: The first time allowed.
            end: By when the copy must be complete.
            body: The loop body that both ends of the copy lie in.
            saved: Seconds by which the use that waits for it is faster for it.
        """
        times = self._between(start, end, body)
        if not len(times):
            return start - 1
        shortest = self._options.min_overlap_to_async_copy_ratio
        shortest *= self._overlap_unit(size)
        since = self._seconds_since(times, end)
        count = bisect_left(
            times, True, key=lambda x: bool(shortest > since(x) + saved)
        )
        return int(times[count - 1]) if count else start - 1

    def starts(
        self, size: int, start: int, end: int, body: Loop | None, saved: float
    ) -> Iterator[int]:
        """The times at which a prefetch may be issued, in the order to try them.

        Args:
            size: As for ``latest_start``, and so on.
            start: The first time allowed.
            end: By when the copy must be complete.
            body: The loop body that both ends of the copy lie in.
            saved: Seconds by which the use that waits for it is faster for it.
        """
        latest = self.latest_start(size, start, end, body, saved)
        if latest < start:
            return
        times = self._between(start, latest + 1, body)
        since = self._seconds_since(times, end)
        first = bisect_left(
            times[:-1], True, key=lambda x: bool(since(x) <= self._longest)
        )
        times = times[first:]
        seconds = since(times)
        for index in _alternate(self._preferred(seconds, size), seconds):
            yield int(times[index])

    def _seconds_since(self, times: Ints, end: int) -> Callable[[Ints], Floats]:
        """``intervals`` for any of some times in one loop body, or in none.

        From each of them on, no loop is left that was not left at the last of them.
        """
        until, least = self._until, self._least_runs(max(int(times[-1]), 0), end)
        return lambda start: (until[end] - until[start + 1]) / least

    def spread(self, start: int, end: int, count: int, body: Loop | None) -> list[int]:
        """The points at which the parts of a copy are issued: in turn, evenly in time.

        Args:
            start: The time after which the first is issued.
            end: By when all must be complete.
            count: How many parts.
            body: The loop body that the copy lies in.
        """
        times = self._between(start, end - 1, body)
        if not len(times):
            return [start + 1] * count
        gone = self._until[times + 1] - self._until[start + 1]
        shares = (self._until[end] - self._until[start + 1]) * np.arange(count) / count
        places = np.searchsorted(gone, shares * (1 + ROUNDING), side="right") - 1
        return [int(times[max(place, 0)]) + 1 for place in places]

    def preferred_start(self, size: int, start: int, latest: int, end: int) -> int:
        """The time outside loops at which a copy is best issued."""
        times = self._between(start + 1, latest + 1, None)
        times = np.concatenate(([start], times))
        return int(times[self._preferred(self.intervals(times, end), size)])

    def _preferred(self, seconds: Floats, size: int) -> int:
        ratio = self._options.preferred_overlap_to_async_copy_ratio
        return int(np.argmin(np.abs(ratio * self._overlap_unit(size) - seconds)))

    def _between(self, start: int, end: int, body: Loop | None) -> Ints:
        """(n,): the times in [start, end) in a loop body, and in no loop within."""
        if body not in self._inside:
            self._inside[body] = self._times(body)
        times = self._inside[body]
        first, last = np.searchsorted(times, (start, end)).tolist()
        return times[first:last]

    def _times(self, body: Loop | None) -> Ints:
        if body is None:
            return np.concatenate(([-1], np.flatnonzero(self._innermost == -1)))
        within = self._innermost[body.start : body.end] == self._number[body]
        return body.start + np.flatnonzero(within)


def typical_size(program: Program) -> int:
    """The bytes for which the overlap of all copies of a program is chosen.

    XLA takes one size for a whole module. It looks like the median of the module's
    larger values, those within fusions included, which mostly have the shape of a
    fusion's result in float32: twice the bytes. A program does not have these; the
    median of twice what is written and of the inputs read comes close.
    """
    buffers = program.buffers
    sizes = [
        2 * access.write_bytes or buffers[access.buffer].size
        for instruction in program.instructions
        for access in instruction.accesses
        if access.writes or buffers[access.buffer].is_input
    ]
    larger = [size for size in sizes if size >= LEAST_TYPICAL_BYTES]
    return int(median_high(larger or sizes or [0]))


def _innermost(program: Program) -> Ints:
    """(T,): the index of the innermost loop around each instruction, or -1."""
    innermost = np.full(len(program), -1)
    for number, loop in enumerate(program.loops):
        innermost[loop.start : loop.end] = number
    return innermost


def _alternate(first: int, seconds: Floats) -> Iterator[int]:
    """From one index on, later and earlier ones in turn.

    When no later ones are left, earlier ones come in steps that grow with the interval.

    Args:
        first: The index.
        seconds: (n,): of the intervals, the longest first.
    """
    yield first
    later, earlier, least = first + 1, first - 1, 0.0
    while later < len(seconds) or earlier >= 0:
        has_later = later < len(seconds)
        if has_later:
            yield later
            later += 1
        else:
            longer = bisect_left(seconds, True, 0, earlier + 1, key=lambda x: x < least)
            earlier = longer - 1
        if earlier >= 0:
            yield earlier
            least = 0.0 if has_later else seconds[earlier] * (1 + 1 / COARSEST)
            earlier -= 1
