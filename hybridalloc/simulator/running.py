"""What the instructions cost under one map, compiled (docs/model.md, Time)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import Costs, Uses
from hybridalloc.simulator.jit import compiled
from hybridalloc.simulator.map_arrays import MapArrays


@compiled
def run_time(costs: Costs, uses: Uses, map_arrays: MapArrays) -> tuple[float, Floats]:
    """The time in which instructions run, and the idle time in each, in seconds.

    Args:
        costs: The coefficients of the program.
        uses: Its accesses, by buffer.
        map_arrays: Its map.

    Returns:
        The sum of ``k(t) * Elapsed(t, S)``, and (T,) ``Idle(t, S)``.
    """
    fast = served_fast(uses, map_arrays, costs.slow_s.size)
    seen_s = seen_times(costs, fast)
    first, slow_s, fast_s = costs.first_access, costs.slow_s, costs.fast_s
    access_bytes, runs = costs.access_bytes, costs.runs
    compute_s, empty_s, extra_s = costs.compute_s, costs.empty_s, costs.extra_s
    floor_s, line_s, slope_s = costs.floor_s, costs.line_s, costs.slope_s
    total, idle = 0.0, np.empty(runs.size)
    for t in range(runs.size):
        slow = quick = fast_bytes = 0.0
        count = 0
        for i in range(first[t], first[t + 1]):
            if fast[i]:
                quick += fast_s[i]
                fast_bytes += access_bytes[i]
                count += 1
            else:
                slow += slow_s[i]
        elapsed = roofline = max(compute_s[t], quick + slow)
        if seen_s[t] >= 0:
            elapsed = max(roofline, seen_s[t])
        elif count == 0:
            elapsed = max(roofline, empty_s[t])
        else:
            line = line_s[t] - slope_s[t] * fast_bytes
            elapsed = max(roofline + extra_s[t], floor_s[t], line)
        idle[t] = elapsed - slow
        total += runs[t] * elapsed
    return total, idle


@compiled
def served_fast(uses: Uses, map_arrays: MapArrays, accesses: int) -> NDArray[np.bool_]:
    """(accesses,): whether each is served from fast memory.

    Allocations of buffers that do not exist serve nothing.
    """
    first, instruction, access = uses.first, uses.instruction, uses.access
    buffer, ready, end = map_arrays.buffer, map_arrays.ready, map_arrays.end
    fast = np.zeros(accesses, np.bool_)
    for i in range(buffer.size):
        if not 0 <= buffer[i] < first.size - 1:
            continue
        for use in range(first[buffer[i]], first[buffer[i] + 1]):
            if ready[i] <= instruction[use] < end[i]:
                fast[access[use]] = True
    return fast


@compiled
def seen_times(costs: Costs, fast: NDArray[np.bool_]) -> Floats:
    """(T,): the further observation of exactly this placement, or -1, in seconds."""
    first, first_seen = costs.first_access, costs.first_seen
    first_seen_access, seen_access = costs.first_seen_access, costs.seen_access
    times = np.full(costs.runs.size, -1.0)
    if not costs.seen_s.size:
        return times
    for t in range(times.size):
        for k in range(first_seen[t], first_seen[t + 1]):
            differing = 0
            for i in range(first[t], first[t + 1]):
                differing += fast[i]
            for i in range(first_seen_access[k], first_seen_access[k + 1]):
                differing += 1 - 2 * fast[seen_access[i]]
            if differing == 0:
                times[t] = costs.seen_s[k]
    return times
