"""Drop the copies that cost more than they save, by the simulator's word."""

from __future__ import annotations

from hybridalloc.baselines.placed import Placed, in_queue_order
from hybridalloc.baselines.plan import Plan
from hybridalloc.memory_map import MemoryMap
from hybridalloc.program import Memory
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run

NEGLIGIBLE = 1e-4
"""Stalls of less than this share of the run time are left alone."""


def drop(plan: Plan, simulator: Simulator, run: Run) -> None:
    """Where the program stalls, take out stays whose copies cost more than they save.

    Those that save least for the work of their copies are tried first.
    """
    owners = {x: one for group in plan.placed for one in group for x in one.allocations}
    allocations = in_queue_order(owners)
    memory_map = MemoryMap(allocations)
    simulation = simulator.simulate(memory_map)
    if simulation.stall_s <= NEGLIGIBLE * simulation.time_s:
        return
    arrays = simulator.encode(memory_map)
    rows: dict[Placed, list[int]] = {}
    copies: dict[Placed, list[int]] = {}
    count = 0
    for row, allocation in enumerate(allocations):
        placed = owners[allocation]
        rows.setdefault(placed, []).append(row)
        own = allocation.has_copy + (allocation.eviction is not None)
        copies.setdefault(placed, []).extend(range(count, count + own))
        count += own
    now = simulation.time_s
    for placed in _by_worth(plan):
        if run.expired:
            break
        served, copied = rows[placed], copies[placed]
        ends, sizes = arrays.end[served], arrays.copy_bytes[copied]
        arrays.end[served], arrays.copy_bytes[copied] = 0, 0
        without = simulator.evaluate(arrays)
        if without < now:
            now = without
            plan.take_out(placed)
        else:
            arrays.end[served], arrays.copy_bytes[copied] = ends, sizes


def _by_worth(plan: Plan) -> list[Placed]:
    """The stays with copies that may be dropped, the least worth first."""

    def worth(placed: Placed) -> float:
        work = plan.engine.work(placed.stay) if placed.prefetch else 0.0
        if placed.eviction:
            work += plan.engine.work(placed.stay, evicted=True)
        return placed.value / work if work else placed.value

    buffers = plan.program.buffers
    stays = [
        placed
        for group in plan.placed
        for placed in group
        if (placed.prefetch or placed.eviction)
        and buffers[placed.stay.buffer].memory is not Memory.FAST
    ]
    return sorted(stays, key=worth)
