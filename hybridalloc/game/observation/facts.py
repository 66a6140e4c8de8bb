"""The position as a whole."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.tables import SCORES, SECONDS
from hybridalloc.game.observation.supply import filled
from hybridalloc.game.observation.tables import (
    CROSSES_USED,
    EDGES,
    FIXED_FACTS,
    FIXED_SUMMARY,
    HOPED_SHARE,
    LOAD_NOW,
    PEAK_HOPED,
    PEAK_LOAD,
    PRESSURE,
    PRESSURE_NOW,
    SAVED,
    SCHEDULE,
    STALLED,
    TAKEN_SHARE,
    Singles,
)
from hybridalloc.incremental.directory import float_row, int_row
from hybridalloc.incremental.tables import (
    CAPACITY,
    COUNTS,
    LIMITS,
    LOAD,
    MOST_CROSSES,
    N_CROSSES,
    STALLS,
    SUMS,
)
from hybridalloc.jit import compiled


@compiled
def sum_up(
    world: Ints,
    state: Ints,
    clock: Ints,
    play: Ints,
    view: Ints,
    now: int,
    profile: Singles,
    summary: Singles,
) -> None:
    """Tell what concerns the whole position.

    Args:
        world: What does not change.
        state: The map.
        clock: The cost model.
        play: The scores.
        view: What the observer knows.
        now: The present instruction.
        profile: (PROFILES, spans, rows): the memory profile.
        summary: (FACTS,): is overwritten, but for the progress.
    """
    fixed, load = float_row(view, FIXED_SUMMARY), int_row(state, LOAD)
    for column in range(FIXED_FACTS):
        summary[column] = fixed[column]
    per_second = fixed[FIXED_FACTS]
    summary[SCHEDULE] = now / load.size
    summary[PRESSURE_NOW] = float_row(view, PRESSURE)[now]
    capacity = max(1, int_row(world, LIMITS)[CAPACITY])
    summary[LOAD_NOW] = min(1.0, load[now] / capacity) if now < load.size else 0.0
    taken, hoped = peaks(int_row(view, EDGES), profile)
    summary[PEAK_LOAD], summary[PEAK_HOPED] = taken, hoped
    lasts = float_row(play, SCORES)[SECONDS] * per_second
    summary[SAVED] = max(-1.0, 1.0 - lasts) if per_second else 0.0
    summary[STALLED] = min(1.0, float_row(clock, SUMS)[STALLS] * per_second)
    limit = int_row(world, LIMITS)[MOST_CROSSES]
    summary[CROSSES_USED] = filled(int_row(state, COUNTS)[N_CROSSES], limit)


@compiled
def peaks(edges: Ints, profile: Singles) -> tuple[float, float]:
    """The largest share of memory that is taken from now on, without and with hopes.

    On the average over a span of time.
    """
    most, most_hoped, rows = 0.0, 0.0, profile.shape[2]
    for span in range(profile.shape[1]):
        if edges[span] < 0:
            continue
        taken, hoped = 0.0, 0.0
        for row in range(rows):
            taken += profile[TAKEN_SHARE, span, row]
            hoped += profile[HOPED_SHARE, span, row]
        most, most_hoped = max(most, taken), max(most_hoped, taken + hoped)
    return most / rows, min(1.0, most_hoped / rows)
