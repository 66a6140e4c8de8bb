"""The copy engine: which idle time copies use, and what is left of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.baselines.idle_time import Times, tick
from hybridalloc.baselines.placed import Placed, no_time
from hybridalloc.baselines.queue import Queue
from hybridalloc.baselines.timing import Timing
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.problem import Problem
from hybridalloc.stays import Stay

ROUNDING = 1e-9
"""The share of its work by which a copy may fall short."""


class Engine:
    """Hides copies in idle time; all of it in seconds of one run.

    Prefetches come before evictions that are placed later, and evictions keep the idle
    time that they claim.
    """

    def __init__(self, problem: Problem, loops: Loops, timing: Timing) -> None:
        self._problem = problem
        self._loops = loops
        self._timing = timing
        self.stalls: Floats = np.zeros(len(problem.program))
        """(T,): the stalls taken in after each instruction."""
        self._hope: Floats = np.zeros(len(problem.program))
        self._claimed: Floats = np.zeros(len(problem.program))
        self._prefetches: Queue[Placed] = Queue()
        self._fetching = np.zeros(len(problem.program) + 1, np.int64)
        self._evicting = np.zeros(len(problem.program) + 1, np.int64)
        self._clock: Floats = np.zeros(len(problem.program) + 1)
        self._times: Times | None = None
        self._changed: float = 0
        """The first instruction whose idle time the clock does not know; infinite if
        it knows all."""

    @property
    def clock(self) -> Floats:
        """(T+1,): idle time before each point that evictions leave, in seconds.

        A view, which changes with what is accounted for.
        """
        if self._changed < math.inf:
            since = min(int(self._changed), self._timing.take_changed())
            idle, runs = self._timing.idle, self._timing.runs
            claimed = self._claimed
            tick(self._clock, idle, self._hope, runs, self.stalls, claimed, since)
            self._changed = math.inf
        return self._clock

    @property
    def _progress(self) -> Times:
        """When the prefetches progress on the clock."""
        if self._times is None:
            self._times = self._prefetches.times(self.clock)
        return self._times

    def _free(self, start: int, end: int, enough: float = math.inf) -> Floats:
        """The idle time that no copy uses, as ``Queue.free`` gives it."""
        return self._prefetches.free(self.clock, self._progress, start, end, enough)

    def hope_for(self, share: float) -> None:
        """Count on idle time that there would be if more were in fast memory.

        Args:
            share: Of each instruction's idle time with everything there.
        """
        self.count_on(share * self._timing.most_idle)

    def count_on(self, idle: Floats) -> None:
        """Count on this much idle time at least, whatever there is.

        Args:
            idle: (T,): seconds of each instruction, each time that it runs.
        """
        self._hope = idle
        self._changed, self._times = 0, None

    def work(self, stay: Stay, evicted: bool = False) -> float:
        """Seconds of one run that a copy of the stay's buffer takes."""
        slow = self._problem.target.slow
        bandwidth = slow.write_bandwidth if evicted else slow.read_bandwidth
        size = self._problem.program.buffers[stay.buffer].size
        once = self._problem.target.copy_engine.startup_s + size / bandwidth
        return once * self._loops.trips(stay.body)

    def begin(self, stay: Stay, earliest: int, may_stall: bool) -> tuple[int, float]:
        """Where its allocation starts, and the stall; (-1, 0) if it cannot."""
        if stay.produced:
            return stay.start, 0.0
        work, due, clock = self.work(stay), stay.start, self.clock
        lateness = self._prefetches.lateness_with
        latest = self.latest_issue(stay, due, earliest)
        issue = self._loops.outside_before(latest, stay.body) if latest >= 0 else -1
        if issue >= earliest and self.may_fetch(issue, due):
            late = issue < latest and lateness(clock, issue, due, work)
            if not late:
                return issue, 0.0
        if may_stall:
            wanted = np.searchsorted(clock, clock[due] - work, side="right")
            wanted = min(due, max(earliest, int(wanted) - 1))
            for issue in (self._loops.outside_before(wanted, stay.body), due):
                if issue >= earliest and self.may_fetch(issue, due):
                    return issue, lateness(clock, issue, due, work)
        return -1, 0.0

    def may_fetch(self, issue: int, due: int) -> bool:
        """Whether one more prefetch may be outstanding from issue to due."""
        return self.may_fetch_slices([issue], due)

    def may_fetch_slices(self, issues: Sequence[int], due: int) -> bool:
        """Whether as many more prefetches may be outstanding, each from its issue.

        A slice that is issued where it is due counts at that point too.
        """
        limit = self._problem.target.copy_engine.max_outstanding_prefetches
        first = min(issues)
        outstanding = self._fetching[first : due + 1].copy()
        for issue in issues:
            outstanding[issue - first : max(due, issue + 1) - first] += 1
        last = max(due, max(issues) + 1) - first
        return bool(outstanding[:last].max() <= limit)

    def may_evict(self, issue: int, due: int) -> bool:
        """Whether one more eviction may be outstanding from issue to due."""
        limit = self._problem.target.copy_engine.max_outstanding_evictions
        return bool(self._evicting[issue : max(due, issue + 1)].max() < limit)

    def evict(
        self, stay: Stay, deadline: int, may_stall: bool
    ) -> tuple[Eviction | None, Floats]:
        """Its eviction, complete as early as can be, and the idle time it claims."""
        if deadline < stay.issue:
            return None, no_time()
        issue, due, claims = self._claim_idle(stay, deadline)
        if due > deadline and may_stall:
            issue, due, claims = stay.issue, deadline, no_time()
        if due > deadline or not self.may_evict(issue, due):
            return None, no_time()
        return Eviction(issue, due), claims

    def _claim_idle(self, stay: Stay, deadline: int) -> tuple[int, int, Floats]:
        """The issue, due point and idle time of its eviction; due too late if none."""
        work = self.work(stay, evicted=True)
        enough = work * (1 - ROUNDING)
        free = self._free(stay.issue, deadline, enough)
        count = len(free)
        if not count or np.cumsum(free)[-1] < enough:
            return stay.issue, deadline + 1, no_time()
        due = self._loops.outside_after(stay.issue + count, stay.body)
        claims = np.zeros(due - stay.issue)
        claims[:count] = free[:count]
        claims[count - 1] -= max(0.0, claims.sum() - work)
        begin = stay.issue + int(np.argmax(claims > 0))
        issue = max(stay.issue, self._loops.outside_before(begin, stay.body))
        return issue, due, claims[issue - stay.issue :]

    def bill(self, stay: Stay, allocation: Allocation) -> tuple[Floats, float]:
        """What the copies of an allocation take, issued and due as they are.

        Args:
            stay: What the allocation serves.
            allocation: Its prefetch waits for all that are issued until then.

        Returns:
            The idle time that its eviction claims, and the stall.
        """
        claims, stall = no_time(), 0.0
        if allocation.origin is Origin.PREFETCHED:
            begin, work = self.clock[allocation.start], self.work(stay)
            issues = self._prefetches.copies.issue
            before = np.searchsorted(issues, allocation.start, side="right")
            if before:
                begin = max(begin, self._progress.done[before - 1])
            stall = min(work, max(0.0, begin + work - self.clock[allocation.ready]))
        if eviction := allocation.eviction:
            work = self.work(stay, evicted=True)
            free = np.cumsum(self._free(eviction.issue, eviction.due))
            claims = np.diff(np.minimum(free, work), prepend=0.0)
            stall += max(0.0, work - float(claims.sum()))
        return claims, stall

    def latest_issue(self, stay: Stay, due: int, earliest: int) -> int:
        """The latest point to issue a prefetch at so that it is hidden, or -1."""
        clock, work = self.clock, self.work(stay)
        queue, times = self._prefetches, self._progress
        return queue.latest_issue(clock, times, due, work, earliest)

    def account(self, placed: Placed, sign: int) -> None:
        """Take in the copies of a stay, or leave them out again.

        Args:
            placed: The stay; ``Timing`` knows of it already.
            sign: 1 or -1.
        """
        if prefetch := placed.prefetch:
            if sign > 0:
                work = self.work(placed.stay)
                self._prefetches.add(placed, prefetch.start, prefetch.ready, work)
            else:
                self._prefetches.remove(placed)
            self._count_prefetch(placed, sign)
        if eviction := placed.eviction:
            until = max(eviction.due, eviction.issue + 1)
            self._evicting[eviction.issue : until] += sign
            until = eviction.issue + len(placed.claims)
            self._claimed[eviction.issue : until] += sign * placed.claims
            self._changed = min(self._changed, eviction.issue)
        before = max(0, placed.stay.start - 1)
        self.stalls[before] += sign * placed.stall
        self._changed, self._times = min(self._changed, before), None

    def _count_prefetch(self, placed: Placed, sign: int) -> None:
        for x in placed.allocations:
            if x.origin is Origin.PREFETCHED:
                size = self._problem.program.buffers[x.buffer].size
                for _, _, issue in x.parts(size):
                    self._fetching[issue : max(x.ready, issue + 1)] += sign
