"""The coming accesses, as they stand in a position."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.beginning import slow_valid_from
from hybridalloc.game.fast.tables import LIVE, TURN_AT, TURN_OF, TURN_USE
from hybridalloc.game.observation.scales import log_share
from hybridalloc.game.observation.tables import (
    COPYING,
    DEMAND,
    FIXED_FEATURES,
    FIXED_TOKENS,
    FREE,
    IN_SLOW,
    IS_CLEAN,
    IS_SERVED,
    SAVING_NOW,
    SHARES,
    TO_EVICT,
    WINDOW_BEGIN,
    WINDOW_END,
    WINDOWS,
    Singles,
)
from hybridalloc.incremental.directory import float_row, floats, int_row, ints
from hybridalloc.incremental.instructions import time_instruction
from hybridalloc.incremental.tables import (
    ACCESS,
    ELAPSED,
    FAST,
    FIRST_ACCESS,
    ISSUE,
    LAST,
    POINTS,
    SLOTS,
    STAY,
    STAYS,
    TIMES,
    USES,
)
from hybridalloc.jit import compiled


@compiled
def describe(
    world: Ints,
    state: Ints,
    clock: Ints,
    play: Ints,
    view: Ints,
    turn: Ints,
    step: int,
    token: Singles,
) -> None:
    """Describe an access.

    Args:
        world: What does not change.
        state: The map.
        clock: The cost model.
        play: What is live.
        view: What the observer knows.
        turn: (3,): the instruction, the buffer and the use.
        step: Its step.
        token: (FEATURES,): is overwritten, but for what it takes the present to tell.
    """
    known = floats(view, FIXED_TOKENS)[step]
    for column in range(FIXED_FEATURES):
        token[column] = known[column]
    saved_s = saved_now(world, state, clock, turn)
    token[SAVING_NOW] = log_share(saved_s * float_row(view, SHARES)[turn[TURN_AT]])
    token[DEMAND] = demand(state, view, turn[TURN_OF], step)
    slot = int_row(play, LIVE)[turn[TURN_OF]]
    if slot < 0:
        token[IN_SLOW] = 1.0
        return
    stay = ints(world, STAYS)[ints(state, SLOTS)[slot, STAY]]
    token[TO_EVICT if stay[ISSUE] >= 0 else IS_CLEAN] = 1.0
    token[IS_SERVED] = stay[LAST] >= turn[TURN_USE]


@compiled
def saved_now(world: Ints, state: Ints, clock: Ints, turn: Ints) -> float:
    """Seconds that fast memory saves for an access, all others as they are decided."""
    t, fast = turn[TURN_AT], int_row(state, FAST)
    access = ints(world, USES)[turn[TURN_USE], ACCESS]
    points, is_fast = ints(world, POINTS), fast[access]
    fast[access] = 1 - is_fast
    other, _ = time_instruction(
        clock, fast, points[t, FIRST_ACCESS], points[t + 1, FIRST_ACCESS], t
    )
    fast[access] = is_fast
    saved = floats(clock, TIMES)[t, ELAPSED] - other
    return float(-saved if is_fast else saved)


@compiled
def demand(state: Ints, view: Ints, buffer: int, step: int) -> float:
    """What a copy for an access takes, against the idle time that there is for it.

    1 where there is none, 1/2 where it is just enough, and 0 where no copy is needed.
    """
    needed = float_row(view, COPYING)[step]
    if needed <= 0.0:
        return 0.0
    window = ints(view, WINDOWS)[step]
    begin = max(window[WINDOW_BEGIN], slow_valid_from(state, buffer))
    end = window[WINDOW_END]
    free = float_row(view, FREE)
    supply = free[end] - free[begin] if begin < end else 0.0
    return float(needed / (needed + supply))
