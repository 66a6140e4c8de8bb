"""The supply of copying: the idle time, and who has it, over the spans of time."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.observation.scales import log_share
from hybridalloc.game.observation.tables import (
    AT,
    DURATION,
    EVICTING_SHARE,
    FETCHING_SHARE,
    FREE,
    IDLE_SHARE,
    RUNS_AT,
    SHARES,
    USED_SHARE,
    WITHIN,
    Singles,
)
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.tables import (
    ELAPSED,
    EVICTING,
    FETCHING,
    IDLE,
    LIMITS,
    MARKS,
    MOST_EVICTING,
    MOST_FETCHING,
    OUTSTANDING,
    TIMES,
    USED,
)
from hybridalloc.jit import compiled


@compiled
def add_up(world: Ints, state: Ints, clock: Ints, view: Ints, supply: Singles) -> None:
    """Add up the supply of each span of time.

    Args:
        world: What does not change.
        state: The map.
        clock: The cost model.
        view: What the observer knows, and where the spans of time are; its ``free``
            is overwritten.
        supply: (SUPPLIES, spans): is overwritten.
    """
    times, marks = floats(clock, TIMES), floats(clock, MARKS)
    shares, runs_at = float_row(view, SHARES), int_row(view, RUNS_AT)
    at, free = int_row(view, AT), float_row(view, FREE)
    for span in range(at.size - 1):
        duration, idle, used = 0.0, 0.0, 0.0
        for t in range(at[span], at[span + 1]):
            here_idle = shares[t] * times[t, IDLE]
            here_used = min(here_idle, shares[t] * marks[runs_at[t], USED])
            duration += shares[t] * times[t, ELAPSED]
            idle += here_idle
            used += here_used
            free[t + 1] = free[t] + here_idle - here_used
        supply[WITHIN, span] = at[span + 1] > at[span]
        supply[DURATION, span] = log_share(duration)
        supply[IDLE_SHARE, span] = part(idle, duration)
        supply[USED_SHARE, span] = part(used, duration)
        busy(world, state, at[span], at[span + 1], supply[:, span])


@compiled
def part(some: float, whole: float) -> float:
    """The share of a part, at most 1; 0 of nothing."""
    return min(1.0, some / whole) if whole > 0 else 0.0


@compiled
def busy(world: Ints, state: Ints, begin: int, end: int, supply: Singles) -> None:
    """Tell how many copies are outstanding at most, as shares of the limits."""
    outstanding, limits = ints(state, OUTSTANDING), int_row(world, LIMITS)
    fetching, evicting = 0, 0
    for point in range(begin, end):
        fetching = max(fetching, outstanding[point, FETCHING])
        evicting = max(evicting, outstanding[point, EVICTING])
    supply[FETCHING_SHARE] = filled(fetching, limits[MOST_FETCHING])
    supply[EVICTING_SHARE] = filled(evicting, limits[MOST_EVICTING])


@compiled
def filled(count: int, limit: int) -> float:
    """The share of a limit that is reached; all of none."""
    return min(1.0, count / limit) if limit > 0 else 1.0
