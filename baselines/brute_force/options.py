"""What each choice for a buffer takes of what all buffers share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.brute_force.choices import Choice
from hybridalloc.baselines.brute_force.costs import Queued
from hybridalloc.baselines.brute_force.dominance import EVICTION, PREFETCH, copies
from hybridalloc.baselines.brute_force.placement import Group, Placement
from hybridalloc.baselines.brute_force.stays import span
from hybridalloc.memory_map import Allocation, Origin
from hybridalloc.problem import Problem


@dataclass(frozen=True)
class Option:
    """A choice for one buffer, and what it takes."""

    choice: Choice
    queued: tuple[tuple[int, Queued], ...]
    """The allocations that are copied, by index, each with its bytes and copies."""
    groups: tuple[Group, ...]
    takes: Ints
    """In the order of ``Shared.limits``."""


class Shared:
    """What all buffers share, as numbers that choices add up to.

    Fast memory during each instruction, in bytes; outstanding prefetches at each
    point, and evictions; cross-program prefetches.
    """

    def __init__(self, problem: Problem, placement: Placement) -> None:
        self._program = problem.program
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

    def options(self, choices: Iterable[Choice]) -> list[Option]:
        """The choices that take no more than there is."""
        options = map(self._option, choices)
        return [x for x in options if bool((x.takes <= self.limits).all())]

    def _option(self, choice: Choice) -> Option:
        allocations = choice.allocations
        queued = tuple(
            (i, (self._program.buffers[x.buffer].size, moved))
            for i, x in enumerate(allocations)
            if (moved := copies(x))
        )
        groups = tuple(
            Group(
                allocations[members[0]].buffer,
                sum(span(allocations[i].start, allocations[i].end) for i in members),
            )
            for members in choice.groups
        )
        return Option(choice, queued, groups, self._takes(choice))

    def _takes(self, choice: Choice) -> Ints:
        takes = np.zeros_like(self.limits)
        takes[-1] = choice.is_cross_program
        first = {PREFETCH: self._end, EVICTION: 2 * self._end + 1}
        for allocation in choice.allocations:
            size = self._program.buffers[allocation.buffer].size
            takes[allocation.start : allocation.end] += size
            for queue, issue, due in copies(allocation):
                if queue == EVICTION or allocation.origin is Origin.PREFETCHED:
                    begin = first[queue]
                    takes[begin + issue : begin + max(due, issue + 1)] += 1
        return takes
