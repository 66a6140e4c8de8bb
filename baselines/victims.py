"""Who gives way in fast memory to make room, by when each is used again."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.packing.space import Span
from hybridalloc.pins import is_pinned
from hybridalloc.stays import Stay

SHORTEST = 1e-6
"""No time between uses counts as less than this share of the run time."""


class Rule(StrEnum):
    """Who gives way first."""

    FARTHEST = "farthest"
    """Whose next use is farthest in the future; of several, the nearest one counts."""
    CHEAPEST = "cheapest"
    """Who saves least at its next use, as a share of the time until then, together."""


@dataclass(frozen=True, slots=True)
class _Need:
    """Why a stay needs room."""

    span: Span
    """When, up to the access that asks for it."""
    urgency: float
    seconds: float = 0.0
    """From the start of the span to the next use after it."""


class Victims:
    """Finds who gives way: those in one stretch of bytes, and only to what is urgent.

    Urgency is, by the rule ``FARTHEST``, one over the instructions until the next
    use; by the rule ``CHEAPEST``, the seconds saved at the next use, or that share of
    them by which the stay needs the room for a shorter time.
    """

    def __init__(self, plan: Plan, rule: Rule) -> None:
        self._plan = plan
        self._rule = rule
        self._points = plan.points
        runs = plan.timing.elapsed * plan.timing.runs
        self._time: Floats = np.concatenate(([0.0], np.cumsum(runs)))

    def choose(
        self, stay: Stay, span: Span, present: Iterable[Placed], firm: set[Placed]
    ) -> list[Placed]:
        """Who gives way least unwillingly; nobody if all are more urgent than the stay.

        Args:
            stay: What to make room for.
            span: When it needs the room, up to the access that asks for it.
            present: Who may be in fast memory then.
            firm: Who does not give way.
        """
        need = self._need(stay, span)
        owners = [x for x in present if _is_there(x, span)]
        low, high, urgency = self._obstacles(owners, need, firm)
        offsets = self._offsets(stay.buffer, high)
        if not len(offsets):
            return []
        size = self._plan.program.buffers[stay.buffer].size
        met = (low < offsets[:, None] + size) & (offsets[:, None] < high)
        urgencies = np.where(met, urgency, 0.0)
        is_plain = self._rule is Rule.FARTHEST
        total = urgencies.max(axis=1) if is_plain else urgencies.sum(axis=1)
        best = int(np.argmin(total))
        if total[best] >= need.urgency:
            return []
        chosen = np.flatnonzero(met[best])
        return [owners[i] for i in chosen[np.argsort(-urgency[chosen])].tolist()]

    def _obstacles(
        self, owners: list[Placed], need: _Need, firm: set[Placed]
    ) -> tuple[Ints, Ints, Floats]:
        """First bytes, ends and urgencies: of the owners, then of what never moves."""
        low, high, urgency = [], [], []
        for owner in owners:
            offset = owner.allocations[0].offset
            assert offset is not None
            low.append(offset)
            high.append(offset + self._plan.program.buffers[owner.stay.buffer].size)
            urgency.append(math.inf if owner in firm else self._urgency(owner, need))
        steps = self._plan.program.instructions[slice(*need.span)]
        scratch = max((x.scratch_bytes for x in steps), default=0)
        for first, end in ((0, scratch), *self._plan.problem.target.fast.reserved):
            low.append(first)
            high.append(end)
            urgency.append(math.inf)
        return np.array(low), np.array(high), np.array(urgency)

    def _offsets(self, buffer: int, ends: Ints) -> Ints:
        """(offsets,): where the buffer fits, just above the end of something."""
        target, fields = self._plan.problem.target, self._plan.program.buffers[buffer]
        unit = target.fast.alignment
        offsets = np.unique(-(-np.append(ends, 0) // unit) * unit)
        if fields.offset is not None:
            offsets = np.array([fields.offset])
        return offsets[offsets + fields.size <= target.capacity]

    def _urgency(self, owner: Placed, need: _Need) -> float:
        """How unwillingly it gives way, infinite if it cannot."""
        stay, points = owner.stay, self._points[owner.stay.buffer]
        index = bisect_left(points, need.span[0])
        if is_pinned(self._plan.program, stay.buffer) or index > stay.last:
            return math.inf
        next_use = self._next_use(stay.buffer, index)
        if self._rule is Rule.FARTHEST:
            waits = index > stay.first and next_use >= need.span[1]
            return 1 / (next_use - need.span[1] + 1) if waits else math.inf
        since = owner.allocations[0].start
        if index > stay.first:
            since = max(since, points[index - 1])
        lost = max(1, bisect_left(points, need.span[1]) - index)
        worth = lost * owner.value / len(stay.instructions)
        return worth * need.seconds / max(need.seconds, self._seconds(since, next_use))

    def _need(self, stay: Stay, span: Span) -> _Need:
        index = bisect_left(self._points[stay.buffer], span[1])
        next_use = self._next_use(stay.buffer, index)
        if self._rule is Rule.FARTHEST:
            urgency = 1 / (next_use - span[1] + 1) if stay.produced else math.inf
            return _Need(span, urgency)
        kept = stay.produced and next_use < math.inf
        until = next_use if kept else span[1]
        urgency = self._plan.saving(stay) / len(stay.instructions)
        return _Need(span, urgency, self._seconds(span[0], until))

    def _next_use(self, buffer: int, index: int) -> float:
        """The point of an access, infinite if it does not need what is there."""
        uses = self._plan.program.uses[buffer]
        if index == len(uses) or uses[index].access.whole:
            return math.inf
        return uses[index].instruction

    def _seconds(self, since: int, until: float) -> float:
        """From one point to another, with everything in slow memory."""
        if until == math.inf:
            return math.inf
        seconds = float(self._time[int(until)] - self._time[since])
        return max(seconds, SHORTEST * float(self._time[-1]))


def _is_there(placed: Placed, span: Span) -> bool:
    return any(x.start < span[1] and span[0] < x.end for x in placed.allocations)
