"""Many moves in a row, kept or taken back as in simulated annealing."""

from __future__ import annotations

import math

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.cpsat_models.search.moves import move
from hybridalloc.cpsat_models.search.rebuilding import saving
from hybridalloc.incremental.clock import sum_up
from hybridalloc.incremental.directory import float_row, int_row, ints
from hybridalloc.incremental.edits import accept, judge, put, take, undo
from hybridalloc.incremental.tables import (
    ACTIVE,
    COUNTS,
    N_ACTIVE,
    N_LOGGED,
    N_SPARE,
    SLOTS,
    STAY,
    STAYS,
    SUMS,
    UNTOUCHED,
    WEIGHT,
)
from hybridalloc.jit import compiled

LEAST_GAIN = 1e-12
"""Less than this share of the objective is no gain, but rounding."""
SPARED = 512
"""With fewer slots than this to spare, no move is begun."""


@compiled
def anneal(
    world: Ints,
    state: Ints,
    clocks: Ints,
    shares: tuple[float, ...],
    temperature: float,
    count: int,
    best: Ints,
    status: Floats,
    random: np.random.Generator,
) -> int:
    """Make moves; one for the worse by d is kept with chance exp(-d / temperature).

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost models.
        shares: How often each kind of move is made, cumulative.
        temperature: In units of the objective.
        count: How many moves.
        best: (slots + 1, SLOT_COLUMNS): the best map so far, whose allocations
            ``best[-1, 0]`` counts; kept up to date.
        status: (2,): the objective of the map, and of the best one.
        random: Draws.

    Returns:
        How many moves were made: fewer where slots ran short.
    """
    status[0] = 0.0
    for k in range(clocks.shape[0]):
        status[0] += float_row(clocks[k], SUMS)[WEIGHT] * sum_up(clocks[k])
    for number in range(count):
        if int_row(state, COUNTS)[N_SPARE] < SPARED:
            return number
        drawn, kind = random.random(), 0
        while drawn >= shares[kind] and kind < len(shares) - 1:
            kind += 1
        done = move(world, state, clocks, kind, random)
        if not done or int_row(state, COUNTS)[N_LOGGED] == 0:
            undo(world, state, clocks)
            continue
        after = judge(world, state, clocks)
        if after > status[0] - temperature * math.log(1.0 - random.random()):
            undo(world, state, clocks)
            continue
        accept(world, state, clocks)
        status[0] = after
        if after < status[1] * (1 - LEAST_GAIN):
            status[1] = after
            snapshot(state, best)
    return count


@compiled
def snapshot(state: Ints, best: Ints) -> None:
    """Copy the allocations of the map."""
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        slot = int_row(state, ACTIVE)[k]
        for column in range(best.shape[1]):
            best[k, column] = ints(state, SLOTS)[slot, column]
    best[-1, 0] = int_row(state, COUNTS)[N_ACTIVE]


@compiled
def restore(world: Ints, state: Ints, clocks: Ints, best: Ints) -> float:
    """Go back to a map that ``snapshot`` has copied: its objective."""
    active, counts = int_row(state, ACTIVE), int_row(state, COUNTS)
    while counts[N_ACTIVE] > 0:
        take(world, state, clocks, active[counts[N_ACTIVE] - 1])
    judge(world, state, clocks)
    accept(world, state, clocks)
    for k in range(best[-1, 0]):
        stay = best[k, STAY]
        value = saving(world, state, clocks, stay)
        if ints(world, STAYS)[stay, UNTOUCHED]:
            value = np.inf
        put(world, state, clocks, best[k], value)
    objective = judge(world, state, clocks)
    accept(world, state, clocks)
    return objective
