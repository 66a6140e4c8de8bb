"""Changes of a plan: put more in, make room for what is worth more, drop what hurts."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

import numpy as np

from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.pins import is_pinned
from hybridalloc.solver import Run
from hybridalloc.stays import Stay, cross_program_stays

LEAST_GAIN = 1e-9
"""A change must save this share of the run time, so that rounding decides nothing."""
WORTHWHILE = 1e-5
"""Making room is tried for what saves this share of the run time."""
MOST_DISPLACED = 40
"""Stays that may give way to one."""
MOST_SHORTER = 6
"""Shorter stays that are tried for one that had to give way."""
COPY_TIME = 1.5
"""How long a copy is taken to be under way, as a multiple of its work."""

Item = TypeVar("Item")


def until_expired(run: Run, items: Iterable[Item]) -> Iterator[Item]:
    """The items, up to the deadline of the run."""
    return takewhile(lambda _: not run.expired, items)


@dataclass(frozen=True, slots=True)
class Weights:
    """What a stay is taken to cost; the dearer, the later it is placed.

    That is ``(bytes / capacity) ** size * (seconds / run time) ** span + copies *
    (seconds of copies / run time)``.
    """

    size: float = 0.25
    span: float = 0.5
    copies: float = 4.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stay that may be placed."""

    stay: Stay
    cost: float


def weigh(plan: Plan, stays: Iterable[Stay], weights: Weights) -> list[Candidate]:
    """The stays with their costs, for an empty plan."""
    seconds = np.cumsum(plan.timing.elapsed * plan.timing.runs)
    time = [0.0, *seconds.tolist()]
    total = time[-1] or 1.0
    shortest = total / (1000 * len(plan.program))
    capacity = plan.problem.target.capacity
    candidates = []
    for stay in stays:
        begin, end, work = time[stay.start], time[stay.end], 0.0
        if not stay.produced:
            work += plan.engine.work(stay)
            begin = max(begin - COPY_TIME * work, time[stay.earliest])
        if stay.evicts:
            eviction = plan.engine.work(stay, evicted=True)
            due = time[stay.issue] + COPY_TIME * eviction
            end = max(end, min(time[stay.deadline], due))
            work += eviction
        size = plan.program.buffers[stay.buffer].size / capacity
        span = max(end - begin, shortest) / total
        cost = size**weights.size * span**weights.span + weights.copies * work / total
        candidates.append(Candidate(stay, cost))
    return candidates


class Moves:
    """The moves from one plan to a better one; each ends at the run's deadline."""

    def __init__(self, plan: Plan, candidates: Sequence[Candidate], run: Run) -> None:
        self._plan = plan
        self._candidates = candidates
        self._run = run
        self._of_buffer: dict[int, list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            self._of_buffer[candidate.stay.buffer].append(candidate)

    def place_all(self, may_stall: bool = False) -> None:
        """Place candidates, most time saved for its cost first.

        Savings shrink as more is in fast memory, so each is looked at again when its
        turn comes.

        Args:
            may_stall: Whether the program may wait for copies that save more than
                that, and stays replace shorter ones within them.
        """
        timely = until_expired(self._run, self._candidates)
        scores = [self._score(x, may_stall) for x in timely]
        queue = [(-score, i) for i, score in enumerate(scores) if score > 0]
        heapq.heapify(queue)
        while queue and not self._run.expired:
            promised, i = heapq.heappop(queue)
            score = self._score(self._candidates[i], may_stall)
            if score <= 0:
                continue
            if queue and -score > max(queue[0][0], promised * (1 - LEAST_GAIN)):
                heapq.heappush(queue, (-score, i))
            else:
                self._place(self._candidates[i].stay, may_stall)

    def _score(self, candidate: Candidate, may_replace: bool) -> float:
        stay = candidate.stay
        for placed in self._plan.overlapping(stay):
            within = stay.first <= placed.stay.first and placed.stay.last <= stay.last
            if not (may_replace and within) or placed.is_cross_program:
                return 0.0
        return self._plan.saving(stay) / candidate.cost

    def _place(self, stay: Stay, may_stall: bool) -> None:
        """Place a stay instead of those within it, if that saves time."""
        plan = self._plan
        replaced = plan.overlapping(stay)
        before = plan.total if may_stall else math.inf
        for placed in replaced:
            plan.take_out(placed)
        new = plan.place(stay, may_stall)
        if new and may_stall and plan.total > before * (1 - LEAST_GAIN):
            plan.take_out(new)
            new = None
        if new is None:
            for placed in replaced:
                plan.put(placed)

    def displace_all(self, limit: int) -> None:
        """Make room for what is left out, most time saved first.

        Args:
            limit: How many to try.
        """
        plan = self._plan
        worthwhile = WORTHWHILE * plan.total
        timely = until_expired(self._run, self._candidates)
        left = [x.stay for x in timely if not plan.overlapping(x.stay)]
        timely_left = until_expired(self._run, left)
        savings = [(-plan.saving(stay), i) for i, stay in enumerate(timely_left)]
        for _, i in until_expired(self._run, sorted(savings)[:limit]):
            if not plan.overlapping(left[i]) and plan.saving(left[i]) > worthwhile:
                self._displace(left[i], is_cross_program=False)

    def place_cross_programs(self, limit: int) -> None:
        """Choose the cross-program prefetches: making room, most time saved first.

        Args:
            limit: How many to try.
        """
        plan = self._plan
        left = plan.problem.target.cross_program_prefetches - plan.cross_programs
        stays = cross_program_stays(plan.problem, plan.loops) if left > 0 else []
        timely = until_expired(self._run, stays)
        savings = [(-self._cross_program_saving(x), i) for i, x in enumerate(timely)]
        for saving, i in until_expired(self._run, sorted(savings)[:limit]):
            if left == 0 or saving == 0:
                break
            placed = plan.placed[stays[i].buffer]
            if not any(x.is_cross_program for x in placed):
                left -= self._displace(stays[i], is_cross_program=True)

    def _cross_program_saving(self, stay: Stay) -> float:
        stalls = sum(placed.stall for placed in self._plan.overlapping(stay))
        return self._plan.saving(stay) + stalls

    def _displace(self, stay: Stay, is_cross_program: bool) -> bool:
        """Place a stay where what gives way is worth least, if that saves time."""
        plan, before = self._plan, self._plan.total
        new: list[Placed] = []
        out = plan.overlapping(stay)
        for placed in out:
            plan.take_out(placed)
        displaced = self._in_the_way(stay, is_cross_program)
        for placed in displaced:
            plan.take_out(placed)
        out += displaced
        if is_cross_program:
            first = plan.place_cross_program(stay)
        else:
            first = plan.place(stay, may_stall=True)
        if first:
            new = [first, *self._place_again(out)]
        if new and plan.total < before * (1 - LEAST_GAIN):
            return True
        for placed in new:
            plan.take_out(placed)
        for placed in out:
            plan.put(placed)
        return False

    def _in_the_way(self, stay: Stay, is_cross_program: bool) -> list[Placed]:
        """What to take out to make room; nothing if it is too much, or is pinned."""
        plan = self._plan
        spans = [plan.likely_span(stay)]
        if is_cross_program:
            spans = plan.cross_program_spans(stay)
        placed = plan.space.cheapest(plan.program.buffers[stay.buffer], spans)
        pinned = any(is_pinned(plan.program, x.stay.buffer) for x in placed)
        return [] if pinned or len(placed) > MOST_DISPLACED else placed

    def _place_again(self, out: Sequence[Placed]) -> list[Placed]:
        """Place what was taken out wherever it fits now, or at least parts of it."""
        new = []
        in_order = sorted(out, key=lambda x: -x.value)
        for placed in until_expired(self._run, in_order):
            stay = placed.stay
            again = None
            if self._plan.overlapping(stay):
                pass
            elif placed.is_cross_program:
                again = self._plan.place_cross_program(stay)
            else:
                again = self._plan.place(stay)
            if again:
                new.append(again)
            elif not placed.is_cross_program:
                new += self._place_shorter(stay)
        return new

    def _place_shorter(self, stay: Stay) -> list[Placed]:
        """Place stays that are parts of this one."""
        shorter = [
            (-self._score(x, may_replace=False), i, x.stay)
            for i, x in until_expired(
                self._run, enumerate(self._of_buffer[stay.buffer])
            )
            if stay.first <= x.stay.first
            and x.stay.last <= stay.last
            and len(x.stay.instructions) < len(stay.instructions)
        ]
        new = []
        for score, _, part in sorted(shorter, key=lambda x: x[:2])[:MOST_SHORTER]:
            if score < 0 and not self._plan.overlapping(part):
                placed = self._plan.place(part)
                new += [placed] if placed else []
        return new
