"""Adoption: a map that others made becomes a plan, so that search can go on from it."""

from __future__ import annotations

from hybridalloc.allocating import queue_key
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.memory_map import MemoryMap
from hybridalloc.recognition import Found, recognise
from hybridalloc.solver import Run


def adopt(plan: Plan, memory_map: MemoryMap, run: Run) -> frozenset[int]:
    """Put a map into an empty plan, each allocation exactly as it is.

    What serves no access is left out. Copies that are issued at one point queue in the
    order of ``in_queue_order``, whatever their order was; this apart, the plan's map
    takes as long as the one adopted.

    Args:
        plan: Without any stays.
        memory_map: A valid map.
        run: Whose deadline counts.

    Returns:
        The buffers with an allocation that keeps to the rules in a way in which no
        ``Lifetime`` would: other stays of them may be in conflict with it.

    Raises:
        TimeoutError: The deadline has passed; the plan is of no use.
    """
    found = list(recognise(plan.program, plan.loops, memory_map))
    for one in found:
        plan.timing.serve(one.stay.buffer, one.stay.instructions, fast=True)
    for one in sorted(found, key=lambda x: queue_key(x.allocations[0])):
        if run.expired:
            raise TimeoutError
        plan.timing.serve(one.stay.buffer, one.stay.instructions, fast=False)
        plan.put(_place(plan, one))
    return frozenset(one.stay.buffer for one in found if not one.is_usual)


def _place(plan: Plan, found: Found) -> Placed:
    """The stay with the idle time and the stalls that its copies take."""
    stay = found.stay
    claims, stall = plan.engine.bill(stay, found.allocations[0])
    value = plan.timing.saving(stay.buffer, stay.instructions)
    return Placed(stay, found.allocations, value, claims, stall)
