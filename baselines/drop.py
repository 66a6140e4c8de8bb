"""Drop the copies that cost more than they save, by the simulator's word."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from hybridalloc.allocating import in_queue_order
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import is_pinned
from hybridalloc.simulator import Simulator
from hybridalloc.simulator.map_arrays import MapArrays
from hybridalloc.solver import Run

NEGLIGIBLE = 1e-4
"""Stalls of less than this share of the run time are left alone."""
SHARE = 0.25
"""The share of the time left that may be spent: a try takes longer the longer the
program is, and there are more of them."""


def drop(plan: Plan, simulator: Simulator, run: Run) -> None:
    """Where the program stalls, take out stays whose copies cost more than they save.

    Those that save least for the work of their copies are tried first.
    """
    until = run.until(SHARE)
    owners = {x: one for group in plan.placed for one in group for x in one.allocations}
    memory_map = MemoryMap(in_queue_order(owners))
    simulation = simulator.simulate(memory_map)
    if simulation.stall_s <= NEGLIGIBLE * simulation.time_s:
        return
    rows: dict[Placed, list[int]] = {}
    for row, allocation in enumerate(memory_map.allocations):
        rows.setdefault(owners[allocation], []).append(row)
    arrays, kept = simulator.encode(memory_map), np.ones(len(memory_map), np.bool_)
    now = simulation.time_s
    for placed in _by_worth(plan):
        if time.monotonic() >= until:
            break
        kept[rows[placed]] = False
        without = simulator.evaluate(_restrict(arrays, kept))
        if without < now:
            now = without
            plan.take_out(placed)
        else:
            kept[rows[placed]] = True


def _restrict(arrays: MapArrays, kept: NDArray[np.bool_]) -> MapArrays:
    """The map in which the other allocations serve nothing and have no copies."""
    copies = kept[arrays.copy_allocation]
    return arrays._replace(
        end=np.where(kept, arrays.end, 0),
        copy_allocation=arrays.copy_allocation[copies],
        copy_bytes=arrays.copy_bytes[copies],
        copy_queue=arrays.copy_queue[copies],
        copy_issue=arrays.copy_issue[copies],
        copy_due=arrays.copy_due[copies],
    )


def _by_worth(plan: Plan) -> list[Placed]:
    """The stays with copies that may be dropped, the least worth first."""

    def worth(placed: Placed) -> float:
        work = plan.engine.work(placed.stay) if placed.prefetch else 0.0
        if placed.eviction:
            work += plan.engine.work(placed.stay, evicted=True)
        return placed.value / work if work else placed.value

    stays = [
        placed
        for group in plan.placed
        for placed in group
        if (placed.prefetch or placed.eviction)
        and not is_pinned(plan.program, placed.stay.buffer)
    ]
    return sorted(stays, key=worth)
