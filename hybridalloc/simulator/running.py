"""What the instructions cost under one map, compiled (docs/model.md, Time)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import Costs, Uses
from hybridalloc.jit import compiled
from hybridalloc.simulator.map_arrays import MapArrays

SPARED, QUICK, BYTES, COUNT = range(4)
"""The columns of ``served``, sums over an instruction's accesses from fast memory:
seconds that they would take from slow memory, and do take; bytes; how many."""


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
    fast = np.zeros(costs.slow_s.size, np.bool_)
    served = np.zeros((costs.runs.size, 4))
    serve(costs, uses, map_arrays, fast, served)
    seen_s = seen_times(costs, fast)
    runs, all_slow_s, compute_s = costs.runs, costs.all_slow_s, costs.compute_s
    empty_s, extra_s = costs.empty_s, costs.extra_s
    floor_s, line_s, slope_s = costs.floor_s, costs.line_s, costs.slope_s
    total, idle = 0.0, np.empty(runs.size)
    for t in range(runs.size):
        slow = max(0.0, all_slow_s[t] - served[t, SPARED])
        elapsed = elapsed_time(
            slow,
            served[t, QUICK],
            served[t, BYTES],
            served[t, COUNT] > 0,
            seen_s[t],
            compute_s[t],
            empty_s[t],
            extra_s[t],
            floor_s[t],
            line_s[t],
            slope_s[t],
        )
        idle[t] = max(0.0, elapsed - slow)
        total += runs[t] * elapsed
    return total, idle


@compiled
def elapsed_time(
    slow: float,
    quick: float,
    fast_bytes: float,
    some: bool,
    seen_s: float,
    compute_s: float,
    empty_s: float,
    extra_s: float,
    floor_s: float,
    line_s: float,
    slope_s: float,
) -> float:
    """``Elapsed(t, S)`` in seconds, from the coefficients of the instruction.

    Args:
        slow: Seconds of its accesses that slow memory serves.
        quick: Seconds of those that fast memory serves.
        fast_bytes: Bytes of those.
        some: Whether there are any.
        seen_s: The further observation of exactly this placement, or -1.
        compute_s: As in ``Costs``.
        empty_s: As in ``Costs``.
        extra_s: As in ``Costs``.
        floor_s: As in ``Costs``.
        line_s: As in ``Costs``.
        slope_s: As in ``Costs``.
    """
    roofline = max(compute_s, quick + slow)
    if seen_s >= 0:
        return max(roofline, seen_s)
    if not some:
        return max(roofline, empty_s)
    return max(roofline + extra_s, floor_s, line_s - slope_s * fast_bytes)


@compiled
def serve(
    costs: Costs,
    uses: Uses,
    map_arrays: MapArrays,
    fast: NDArray[np.bool_],
    served: Floats,
) -> None:
    """Find the accesses that are served from fast memory, and add them up.

    Allocations of buffers that do not exist serve nothing.

    Args:
        costs: The coefficients of the program.
        uses: Its accesses, by buffer.
        map_arrays: Its map.
        fast: (accesses,): set where an access is served from fast memory.
        served: (T, 4): their sums for each instruction.
    """
    first, instruction, access = uses.first, uses.instruction, uses.access
    buffer, ready, end = map_arrays.buffer, map_arrays.ready, map_arrays.end
    slow_s, fast_s, access_bytes = costs.slow_s, costs.fast_s, costs.access_bytes
    for a in range(buffer.size):
        if not 0 <= buffer[a] < first.size - 1:
            continue
        for use in range(first[buffer[a]], first[buffer[a] + 1]):
            t, i = instruction[use], access[use]
            if ready[a] <= t < end[a] and not fast[i]:
                fast[i] = True
                served[t, SPARED] += slow_s[i]
                served[t, QUICK] += fast_s[i]
                served[t, BYTES] += access_bytes[i]
                served[t, COUNT] += 1


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
