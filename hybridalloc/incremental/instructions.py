"""What instructions take, each as fast memory serves its accesses."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.incremental.directory import ROWS, float_row, floats, int_row
from hybridalloc.incremental.tables import (
    ACCESS_S,
    ALL_SLOW,
    BYTES,
    COMPUTE,
    ELAPSED,
    EMPTY,
    EXTRA,
    FAST_S,
    FIRST_SEEN,
    FIRST_SEEN_ACCESS,
    FLOOR,
    IDLE,
    LINE,
    RUNNING,
    RUNS,
    SEEN_ACCESS,
    SEEN_S,
    SLOPE,
    SLOW_S,
    SUMS,
    TERMS,
    TIMES,
)
from hybridalloc.jit import compiled
from hybridalloc.simulator.running import elapsed_time


@compiled
def time_instruction(
    clock: Ints, fast: Ints, begin: int, end: int, t: int
) -> tuple[float, float]:
    """``Elapsed(t, S)`` and ``Idle(t, S)``, in seconds.

    Args:
        clock: The cost model.
        fast: (accesses,): which accesses fast memory serves.
        begin: The instruction's first access.
        end: The end of its accesses.
        t: The instruction.
    """
    access, terms = floats(clock, ACCESS_S), floats(clock, TERMS)
    slow, quick, fast_bytes, count = terms[t, ALL_SLOW], 0.0, 0.0, 0
    for i in range(begin, end):
        if fast[i]:
            slow -= access[i, SLOW_S]
            quick += access[i, FAST_S]
            fast_bytes += access[i, BYTES]
            count += 1
    slow = max(0.0, slow)
    seen_s = -1.0
    if clock[SEEN_S, ROWS] > 0:
        seen_s = seen(clock, fast, count, t)
    elapsed = elapsed_time(
        slow,
        quick,
        fast_bytes,
        count > 0,
        seen_s,
        terms[t, COMPUTE],
        terms[t, EMPTY],
        terms[t, EXTRA],
        terms[t, FLOOR],
        terms[t, LINE],
        terms[t, SLOPE],
    )
    return elapsed, max(0.0, elapsed - slow)


@compiled
def seen(clock: Ints, fast: Ints, count: int, t: int) -> float:
    """The further observation of exactly this placement, or -1, in seconds."""
    time_s = -1.0
    for k in range(int_row(clock, FIRST_SEEN)[t], int_row(clock, FIRST_SEEN)[t + 1]):
        differing = count
        for i in range(
            int_row(clock, FIRST_SEEN_ACCESS)[k],
            int_row(clock, FIRST_SEEN_ACCESS)[k + 1],
        ):
            differing += 1 - 2 * fast[int_row(clock, SEEN_ACCESS)[i]]
        if differing == 0:
            time_s = float_row(clock, SEEN_S)[k]
    return time_s


@compiled
def refresh(clock: Ints, fast: Ints, begin: int, end: int, t: int) -> None:
    """Take in that an access of an instruction is served from elsewhere now."""
    elapsed, idle = time_instruction(clock, fast, begin, end, t)
    change = elapsed - floats(clock, TIMES)[t, ELAPSED]
    float_row(clock, SUMS)[RUNNING] += floats(clock, TERMS)[t, RUNS] * change
    floats(clock, TIMES)[t, ELAPSED], floats(clock, TIMES)[t, IDLE] = elapsed, idle
