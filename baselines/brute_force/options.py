"""What each choice for a buffer takes of what all buffers share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.brute_force.choice import (
    EVICTION,
    PREFETCH,
    Choice,
    Copy,
    copies,
)
from hybridalloc.baselines.brute_force.orders import Rows
from hybridalloc.baselines.brute_force.placement import Group, Placement
from hybridalloc.cost_model import traffic_s
from hybridalloc.memory_map import Origin
from hybridalloc.problem import Problem


@dataclass(frozen=True)
class Option:
    """A choice for one buffer, and what it takes."""

    choice: Choice
    queued: tuple[Rows, ...]
    """The copies of each allocation that has any."""
    is_queued: tuple[bool, ...]
    """Whether each allocation has any."""
    groups: tuple[Group, ...]
    takes: Ints
    """In the order of ``Shared.limits``."""
    busy_s: float
    """Seconds in one run that slow memory serves the buffer's accesses and copies."""


class Shared:
    """What all buffers share, as numbers that choices add up to.

    Fast memory during each instruction, in bytes; outstanding prefetches at each
    point, and evictions; cross-program prefetches.
    """

    def __init__(self, problem: Problem, placement: Placement) -> None:
        self._problem, self._program = problem, problem.program
        self.placement = placement
        self._end = len(problem.program)
        engine = problem.target.copy_engine
        points = self._end + 1
        self.limits = np.array(
            [placement.room(t) for t in range(self._end)]
            + [engine.max_outstanding_prefetches] * points
            + [engine.max_outstanding_evictions] * points
            + [problem.target.cross_program_prefetches],
            dtype=np.int64,
        )
        """(T + 2 (T+1) + 1,)"""

    def options(self, buffer: int, choices: Iterable[Choice]) -> list[Option]:
        """The choices for a buffer that take no more than there is."""
        options = [self._option(buffer, choice) for choice in choices]
        return [x for x in options if bool((x.takes <= self.limits).all())]

    def _option(self, buffer: int, choice: Choice) -> Option:
        allocations = choice.allocations
        size = self._program.buffers[buffer].size
        rows = [tuple((size, *copy) for copy in copies(x)) for x in allocations]
        groups = tuple(Group(buffer, choice.held(group)) for group in choice.groups)
        takes, busy_s = self._takes(size, choice), self._busy_s(buffer, choice)
        return Option(
            choice,
            tuple(filter(None, rows)),
            tuple(map(bool, rows)),
            groups,
            takes,
            busy_s,
        )

    def _takes(self, size: int, choice: Choice) -> Ints:
        takes = np.zeros_like(self.limits)
        takes[-1] = choice.is_cross_program
        first = {PREFETCH: self._end, EVICTION: 2 * self._end + 1}
        for allocation in choice.allocations:
            takes[allocation.start : allocation.end] += size
            for queue, issue, due in copies(allocation):
                if queue == EVICTION or allocation.origin is Origin.PREFETCHED:
                    begin = first[queue]
                    takes[begin + issue : begin + max(due, issue + 1)] += 1
        return takes

    def _busy_s(self, buffer: int, choice: Choice) -> float:
        slow, runs = self._problem.target.slow, self._program.multiplicity
        seconds = sum(
            runs[use.instruction] * traffic_s(slow, use.access)
            for use in self._program.uses[buffer]
            if not choice.served >> use.instruction & 1
        )
        size = self._program.buffers[buffer].size
        for allocation in choice.allocations:
            for copy in copies(allocation):
                seconds += self._runs(copy) * self._copy_s(copy, size)
        return seconds

    def _copy_s(self, copy: Copy, size: int) -> float:
        slow = self._problem.target.slow
        rate = slow.write_bandwidth if copy[0] == EVICTION else slow.read_bandwidth
        return self._problem.target.copy_engine.startup_s + size / rate

    def _runs(self, copy: Copy) -> int:
        """How often a copy happens: once in each run of the bodies that hold it."""
        _, issue, due = copy
        return math.prod(
            loop.trip_count
            for loop in self._program.loops
            if loop.start <= issue <= due <= loop.end
            and (loop.start < issue < loop.end or loop.start < due < loop.end)
        )
