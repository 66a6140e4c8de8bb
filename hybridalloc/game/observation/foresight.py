"""What is known of a game before it is played, for its observer."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.space import units
from hybridalloc.cost_model import compile_costs, elapsed
from hybridalloc.game.game import Game
from hybridalloc.game.observation.config import ObservationConfig
from hybridalloc.game.observation.scales import edges, log_distances
from hybridalloc.game.observation.tables import (
    FIXED_FACTS,
    IS_CYCLES,
    LEAST_TIME,
    MAY_SHIFT,
    MAY_WAIT,
    PROFILES,
    ROOMINESS,
    View,
)
from hybridalloc.game.observation.tokens import fixed_tokens
from hybridalloc.liveness import live_bytes
from hybridalloc.problem import CostModel
from hybridalloc.simulator.tape import RUN, build_tape

MOST = 1e300
"""Quotients stay below this, so that products with small numbers stay finite."""


def foresee(game: Game, config: ObservationConfig) -> View:
    """Everything that does not change in a game.

    Args:
        game: Which.
        config: How finely it is observed.
    """
    length, around = len(game.problem.program), edges(len(game.problem.program), config)
    points = np.arange(-length, length + 1)
    tape, runs = build_tape(game.problem.program), compile_costs(game.problem).runs
    per_second = share_per_second(game)
    windows, copying = _copies(game, per_second)
    live = np.append(live_bytes(game.problem.program), 0)
    return View(
        edges=around,
        span_of=np.searchsorted(around, points, side="right").astype(np.int64) - 1,
        far=log_distances(length),
        shares=np.minimum(MOST, runs * per_second),
        runs_at=np.flatnonzero(tape.action == RUN),
        windows=windows,
        copying=copying,
        fixed_tokens=fixed_tokens(game, per_second),
        pressure=live / (live + game.problem.target.capacity),
        background=_background(game, config.rows),
        fixed_summary=np.append(_facts(game, int(live.max()), per_second), per_second),
        at=np.zeros_like(around),
        steps_up=np.zeros((PROFILES * config.spans, config.rows + 2)),
        free=np.zeros(length + 1),
    )


def share_per_second(game: Game) -> float:
    """One over the program's time with everything in slow memory, 0 if it is none."""
    slow_s = game.simulator.slow_s
    return min(MOST, 1 / slow_s) if slow_s > 0 else 0.0


def _facts(game: Game, peak: int, per_second: float) -> Floats:
    problem, capacity = game.problem, game.problem.target.capacity
    facts = np.zeros(FIXED_FACTS)
    facts[ROOMINESS] = capacity / (capacity + peak)
    everything = range(len(problem.program.buffers))
    least_s = np.array(
        [elapsed(problem, t, everything) for t in range(len(problem.program))]
    )
    runs = compile_costs(problem).runs
    facts[LEAST_TIME] = min(1.0, float(runs @ least_s) * per_second)
    facts[IS_CYCLES] = problem.cost_model is not CostModel.ROOFLINE
    facts[MAY_WAIT], facts[MAY_SHIFT] = game.config.waits, game.config.shifts
    return facts


def _copies(game: Game, per_second: float) -> tuple[Ints, Floats]:
    """When each access could be copied for at the earliest, and what that takes."""
    growth, slow = game.growth, game.problem.target.slow
    startup_s = game.problem.target.copy_engine.startup_s
    windows = np.zeros((len(game.steps), 2), dtype=np.int64)
    copying = np.zeros(len(game.steps))
    for i, step in enumerate(game.steps):
        use, size = game.use(step), game.problem.program.buffers[step.buffer].size
        windows[i], trips = step.instruction, 1.0
        if growth.fetched[use]:
            widest = growth.stays[growth.fetched[use][-1]].stay
            windows[i] = widest.earliest, widest.start
            trips = min(MOST, game.loops.trips(widest.body))
        if not game.problem.program.uses[step.buffer][step.use].access.whole:
            copy_s = startup_s + size / slow.read_bandwidth
            copying[i] = min(MOST, copy_s * per_second * trips)
    return windows, copying


def _background(game: Game, rows: int) -> Floats:
    """The reserved ranges and the scratch of all instructions, summed up."""
    problem, fast = game.problem, game.problem.target.fast
    instructions = problem.program.instructions
    scratch = [units(x.scratch_bytes, fast.alignment) for x in instructions]
    capacity = max(1, problem.target.capacity // fast.alignment)
    if not (any(scratch) or fast.reserved):
        return np.zeros((0, rows))
    reserved = [
        (low // fast.alignment, units(high, fast.alignment))
        for low, high in fast.reserved
    ]
    lines = {x: _taken_rows([(0, x), *reserved], capacity, rows) for x in set(scratch)}
    sums = np.zeros((len(scratch) + 1, rows))
    sums[1:] = np.cumsum([lines[x] for x in scratch], axis=0)
    return sums


def _taken_rows(ranges: list[tuple[int, int]], capacity: int, rows: int) -> Floats:
    """(rows,): the share of each row that is in one of the ranges.

    >>> _taken_rows([(0, 3), (2, 4), (7, 9)], 8, 4).tolist()
    [1.0, 1.0, 0.0, 0.5]
    """
    bounds = np.arange(rows + 1) * (capacity / rows)
    taken, until = np.zeros(rows), 0.0
    for low, high in sorted(ranges):
        ends = np.clip(bounds, max(low, until), max(high, until))
        taken += np.diff(ends)
        until = max(until, high)
    return taken * (rows / capacity)
