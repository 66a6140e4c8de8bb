"""Looking at a position of the fast game."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.tables import OPTIONS, PLACES, STEP, TURN_AT, TURNS
from hybridalloc.game.fast.turns import is_legal, look, parts
from hybridalloc.game.observation.accesses import describe
from hybridalloc.game.observation.facts import sum_up
from hybridalloc.game.observation.profile import draw
from hybridalloc.game.observation.supply import add_up
from hybridalloc.game.observation.tables import (
    AHEAD,
    AT,
    EDGES,
    FAR,
    LEGAL,
    PROGRESS,
    SHARES,
    Singles,
)
from hybridalloc.incremental.directory import ROWS, float_row, int_row, ints
from hybridalloc.jit import compiled


@compiled
def observe(
    world: Ints,
    rules: Ints,
    where: Ints,
    view: Ints,
    profile: Singles,
    supply: Singles,
    tokens: Singles,
    summary: Singles,
) -> None:
    """Write what is to be seen of a position into arrays.

    Args:
        world: The directory of what does not change.
        rules: That of the rules.
        where: That of the position.
        view: That of what the observer knows.
        profile: (PROFILES, spans, rows)
        supply: (SUPPLIES, spans)
        tokens: (any, FEATURES)
        summary: (FACTS,)
    """
    state, clocks, play = parts(where)
    turns, step = ints(rules, TURNS), int_row(play, PLACES)[STEP]
    now, left = view[SHARES, ROWS], turns.shape[0] - step
    if left:
        look(world, rules, where)
        now = turns[step, TURN_AT]
    set_spans(view, now)
    draw(world, state, play, view, now, profile)
    add_up(world, state, clocks[0], view, supply)
    tokens[:] = 0.0
    for k in range(min(tokens.shape[0], left)):
        turn = turns[step + k]
        describe(world, state, clocks[0], play, view, turn, step + k, tokens[k])
        tokens[k, AHEAD] = float_row(view, FAR)[turn[TURN_AT] - now]
    for action in range(ints(play, OPTIONS).shape[0] if left else 0):
        tokens[0, LEGAL + action] = is_legal(play, action)
    sum_up(world, state, clocks[0], play, view, now, profile, summary)
    summary[PROGRESS] = 1.0 - left / max(1, turns.shape[0])


@compiled
def set_spans(view: Ints, now: int) -> None:
    """Find the points at which the spans of time begin and end."""
    edges, at, last = int_row(view, EDGES), int_row(view, AT), view[SHARES, ROWS]
    for k in range(edges.size):
        at[k] = min(last, max(0, now + edges[k]))
