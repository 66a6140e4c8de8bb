"""Prefetches in slices, where fast memory fills up while they are copied."""

from __future__ import annotations

import numpy as np

from hybridalloc.allocating import allocate
from hybridalloc.baselines.placed import Placed, no_time
from hybridalloc.baselines.plan import Plan
from hybridalloc.cpsat_models.rounding.load import Load
from hybridalloc.memory_map import Slice
from hybridalloc.stays import Stay


def place_sliced(plan: Plan, load: Load, stay: Stay) -> Placed | None:
    """Place a prefetch whose slices are issued as late as the copies allow.

    Args:
        plan: Gets it.
        load: The plan's space.
        stay: What does not fit as a whole from its issue on; only prefetches that
            are in no loop have slices.
    """
    if stay.produced or stay.body is not None:
        return None
    earliest, deadline = plan.limits(stay)
    issue, _ = plan.engine.begin(stay, earliest, may_stall=False)
    if issue < 0:
        return None
    slices = _slices(plan, load, stay, issue)
    if slices is None:
        return None
    end, eviction, claims = stay.end, None, no_time()
    if not plan.engine.may_fetch_slices([x.issue for x in slices], stay.start):
        return None
    if stay.evicts:
        eviction, claims = plan.engine.evict(stay, deadline, may_stall=False)
        if eviction is None:
            return None
        end = max(end, eviction.due)
    start, buffer = slices[0].issue, plan.program.buffers[stay.buffer]
    if start < earliest or not load.may_fit(buffer, (stay.start, end)):
        return None
    one = allocate(stay, 0, (start, end), slices=tuple(slices), eviction=eviction)
    return plan.put(Placed(stay, (one,), plan.saving(stay), claims))


def _slices(plan: Plan, load: Load, stay: Stay, issue: int) -> list[Slice] | None:
    """Slices in the order of their issue, each as late as it can be.

    The last one is issued when there is room for all; what cannot be copied from then
    on, is what must be complete by then; and so on.
    """
    clock, unit = plan.engine.clock, plan.problem.target.fast.alignment
    left = plan.program.buffers[stay.buffer].size
    seconds = plan.engine.work(stay) / max(left, 1)
    # It may begin at any time until the next point.
    begin = float(clock[min(issue + 1, stay.start)])
    due, until = stay.start, min(begin + seconds * left, float(clock[stay.start]))
    slices: list[Slice] = []
    for _ in range(plan.problem.target.copy_engine.max_slices):
        point = plan.loops.outside_after(load.since(left, due), None)
        # Bytes that can be copied from the point on; the others must be there by then.
        later = max(0.0, until - float(clock[point])) / seconds
        before = -int((later - left) // unit) * unit if later < left else 0
        if before <= 0:
            latest = np.searchsorted(clock, until - seconds * left, side="right")
            point = max(point, min(int(latest) - 1, due))
            return [Slice(left, plan.loops.outside_before(point, None)), *slices]
        if before >= left:
            return None
        slices.insert(0, Slice(left - before, point))
        due, until, left = point, float(clock[point]), before
    return None
