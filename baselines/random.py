"""The strategy ``random``: a random valid map of great variety, of no great quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.allocating import allocate, allocate_cross_program, head_and_tail
from hybridalloc.baselines.moves import until_expired
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Eviction, Slice
from hybridalloc.packing.space import Span
from hybridalloc.problem import Problem
from hybridalloc.program import Memory
from hybridalloc.ranges import require_within
from hybridalloc.solver import UNANSWERED, Outcome, Run
from hybridalloc.stays import Lifetime, Stay, cross_program_stays


@dataclass(frozen=True, slots=True)
class RandomConfig:
    """How much is tried."""

    tries: int = 4
    """How many stays of each buffer are tried."""
    sliced: float = 0.4
    """The share of prefetches that are cut into slices."""
    most_slices: int = 64
    """The most slices of a prefetch, however many the target allows."""
    cross_program: float = 0.7
    """The share of maps in which cross-program prefetches are tried."""

    def __post_init__(self) -> None:
        require_within("tries", self.tries, 0)
        require_within("sliced", self.sliced, 0, 1)
        require_within("most_slices", self.most_slices, 1, 10_000)
        require_within("cross_program", self.cross_program, 0, 1)


class Random:
    """Draws stays, copies and offsets from what the rules allow."""

    def __init__(self, config: RandomConfig | None = None) -> None:
        self.config = config or RandomConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Draw a map; the seed decides which."""
        plan = Plan(problem, Loops(problem.program))
        if not plan.place_pinned():
            return UNANSWERED
        _Draw(plan, self.config, np.random.default_rng(run.seed)).all(run)
        return Outcome(plan.memory_map())


class _Draw:
    def __init__(
        self, plan: Plan, config: RandomConfig, generator: np.random.Generator
    ) -> None:
        self.plan = plan
        self.config = config
        self._random = generator

    def all(self, run: Run) -> None:
        """Place stays of every buffer, in random order."""
        if self._random.random() < self.config.cross_program:
            self._cross_programs()
        program, loops = self.plan.program, self.plan.loops
        for index in self._random.permutation(len(program.buffers)).tolist():
            if program.buffers[index].memory is not Memory.ANY or run.expired:
                continue
            stays = list(until_expired(run, Lifetime(program, loops, index).stays()))
            for stay in self._some(stays, self.config.tries):
                if not self.plan.overlapping(stay):
                    self._place(stay)

    def _some(self, stays: Sequence[Stay], count: int) -> list[Stay]:
        order = self._random.permutation(len(stays))[:count]
        return [stays[i] for i in order.tolist()]

    def _between(self, low: int, high: int) -> int:
        """A whole number from low to high, either end more often than others."""
        kind = self._random.integers(4)
        if kind < 2 or low == high:
            return high if kind == 0 else low
        return int(self._random.integers(low, high + 1))

    def _place(self, stay: Stay) -> None:
        earliest, deadline = self.plan.limits(stay)
        start, slices = stay.start, tuple[Slice, ...]()
        if not stay.produced:
            start, slices = self._prefetch(stay, earliest)
            issues = [piece.issue for piece in slices] or [start]
            if start < 0 or not self.plan.engine.may_fetch_slices(issues, stay.start):
                return
        end, eviction = stay.end, None
        if stay.evicts:
            eviction = self._eviction(stay, deadline)
            if eviction is None:
                return
            end = max(end, eviction.due)
        end = self._end(stay, end)
        offset = self._offset(stay.buffer, [(start, end)])
        if offset is None:
            return
        allocation = allocate(
            stay, offset, (start, end), slices=slices, eviction=eviction
        )
        self.plan.put(Placed(stay, (allocation,), value=0.0))

    def _prefetch(self, stay: Stay, earliest: int) -> tuple[int, tuple[Slice, ...]]:
        """The issue point, -1 if there is none, and slices if it is to be cut."""
        if earliest > stay.start:
            return -1, ()
        start = self._issue(stay, earliest)
        size = self.plan.program.buffers[stay.buffer].size
        divisible = size > self.plan.problem.target.fast.alignment
        if not divisible or self._random.random() >= self.config.sliced:
            return start, ()
        sizes = self._cut(size)
        issues = [start, *(self._issue(stay, start) for _ in sizes[1:])]
        order = self._random.permutation(len(sizes)).tolist()
        pieces = zip(sizes, (issues[i] for i in order), strict=True)
        return start, tuple(Slice(size, issue) for size, issue in pieces)

    def _issue(self, stay: Stay, earliest: int) -> int:
        point = self._between(earliest, stay.start)
        point = self.plan.loops.outside_before(point, stay.body)
        return point if point >= earliest else stay.start

    def _cut(self, size: int) -> list[int]:
        """Sizes of slices: multiples of the alignment, but for the last."""
        unit = self.plan.problem.target.fast.alignment
        most = self.plan.problem.target.copy_engine.max_slices
        places = len(range(unit, size, unit))
        count = min(most, self.config.most_slices) - 1
        drawn = self._random.integers(0, places + 1, count).tolist()
        cuts = sorted({unit * place for place in drawn if place})
        ends = zip([0, *cuts], [*cuts, size], strict=True)
        return [end - begin for begin, end in ends]

    def _eviction(self, stay: Stay, deadline: int) -> Eviction | None:
        if stay.issue > deadline:
            return None
        loops = self.plan.loops
        issue = self._between(stay.issue, max(stay.issue, deadline - 1))
        issue = max(stay.issue, loops.outside_before(issue, stay.body))
        due = loops.outside_after(self._between(issue, deadline), stay.body)
        due = min(due, deadline)
        possible = self.plan.engine.may_evict(issue, due)
        return Eviction(issue, due) if possible else None

    def _end(self, stay: Stay, end: int) -> int:
        """When to give the place back, no later than the next access."""
        program = self.plan.program
        limit = stay.body.end if stay.body else len(program)
        uses = program.uses[stay.buffer]
        if stay.last + 1 < len(uses):
            limit = min(limit, uses[stay.last + 1].instruction)
        later = self._between(end, max(end, limit))
        return max(end, self.plan.loops.outside_before(later, stay.body))

    def _offset(self, buffer: int, spans: Sequence[Span]) -> int | None:
        fields = self.plan.program.buffers[buffer]
        gaps = self.plan.space.gaps(fields, spans)
        if not gaps:
            return None
        begin, end = gaps[int(self._random.integers(len(gaps)))]
        if fields.offset is not None:
            return begin
        unit = self.plan.problem.target.fast.alignment
        return begin + unit * self._between(0, (end - begin - fields.size) // unit)

    def _cross_programs(self) -> None:
        stays = cross_program_stays(self.plan.problem, self.plan.loops)
        limit = self.plan.problem.target.cross_program_prefetches
        for stay in self._some(stays, limit):
            if not self.plan.placed[stay.buffer]:
                self._cross_program(stay)

    def _cross_program(self, stay: Stay) -> None:
        """Place it with a head and a tail, or for the whole run."""
        end = len(self.plan.program)
        head = self._end(stay, stay.end)
        tail = self._between(head, end)
        tail = max(head, self.plan.loops.outside_before(tail, stay.body))
        spans = head_and_tail(head, tail, end)
        offset = self._offset(stay.buffer, spans)
        if offset is not None:
            allocations = allocate_cross_program(stay, offset, spans)
            self.plan.put(Placed(stay, allocations, value=0.0))
