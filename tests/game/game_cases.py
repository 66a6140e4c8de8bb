"""Small programs to play, and how they are played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import assume
from named_problems import (
    DONATED,
    OUT,
    W,
    X,
    Y,
    problem,
    reads,
    target,
    updates,
    writes,
)

from hybridalloc.game import Action, Game, GameConfig, State, advice
from hybridalloc.game.fixing import fixed
from hybridalloc.memory_map import Allocation
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop
from hybridalloc.target import CopyEngine

STAY, COPY, DROP = Action.NO_COPY, Action.COPY, Action.DROP
BIASES = [(1, 1, 1), (3, 3, 1), (5, 2, 1), (1, 5, 1), (2, 1, 4)]
"""How likely each action is, against the others."""
NO_CROSS = target(cross_program_prefetches=0)

LOOP_AND_CHAIN = problem(
    (X, W, OUT),
    (writes(0),),
    (reads(1), updates(0)),
    (updates(0),),
    (reads(0), writes(2)),
    compute={0: 20.0},
    loops=(Loop(1, 3, trip_count=4),),
    machine=NO_CROSS,
)
"""w may be copied before the loop; x is updated in place, in it."""
DONATED_BUFFER = problem(
    (DONATED, W),
    (reads(1),),
    (updates(0),),
    (reads(0),),
    (reads(1),),
    compute={0: 16.0, 3: 32.0},
)
"""The donated buffer is an input, updated and left as an output."""
NO_EVICTIONS = problem(
    (X, Y, OUT),
    (writes(0),),
    (writes(1),),
    (reads(0), reads(1), writes(2)),
    compute={1: 4.0},
    machine=target(8, engine=CopyEngine(max_outstanding_evictions=0)),
)
"""There is room for x or y, and neither can be copied back."""
FRAGMENTED = problem(
    (X, Y, Buffer("large", 16)),
    (writes(0),),
    (reads(0), writes(1)),
    (reads(1), replace(writes(2), write_bytes=16)),
    machine=target(24),
)
"""x from 0 to 8 at first, y from 8 to 16: there is no room for 16 bytes at once."""


def played(game: Game, *actions: Action) -> State:
    """The position after these actions."""
    state = State.begin(game)
    for action in actions:
        state = state.apply(action)
    return state


def map_of(state: State) -> tuple[Allocation, ...]:
    """The allocations of a position."""
    return state.memory_map().allocations


def game_of(given: Problem, *, waits: bool = False, shifts: bool = False) -> Game:
    """The game of a problem; what is pinned is where a solver has put it."""
    return Game(given, GameConfig(waits, shifts), fixed(given))


def drawn_game(drawn: Problem, *, waits: bool = False, shifts: bool = False) -> Game:
    """The game of a drawn problem; another one is drawn if its pins do not fit."""
    try:
        fixed(drawn)
    except ValueError:
        assume(False)
    return game_of(drawn, waits=waits, shifts=shifts)


def advised(game: Game, seed: int) -> Game:
    """The game with heuristics that say anything."""
    random, steps = np.random.default_rng(seed), len(game.steps)
    lines = [(f"h{i}", random.integers(0, 3, steps)) for i in range(2)]
    return game.advised(advice(lines, steps))


def chooser(seed: int) -> Callable[[State], Action]:
    """A random player with a bias of its own."""
    random = np.random.default_rng(seed)
    bias = np.array(BIASES[seed % len(BIASES)], dtype=float)

    def choose(state: State) -> Action:
        legal = state.legal_actions
        weights = bias[list(legal)]
        return Action(random.choice(legal, p=weights / weights.sum()))

    return choose


def ended(game: Game, choose: Callable[[State], Action]) -> State:
    """The end of a game."""
    state = State.begin(game)
    while not state.is_terminal:
        state = state.apply(choose(state))
    return state


def actions_of(state: State) -> list[Action]:
    """Those that led to a position, without what Drop-backup has undone."""
    actions = []
    while state.before is not None and state.action is not None:
        actions.append(state.action)
        state = state.before
    return actions[::-1]


def with_limits(given: Problem, prefetches: int, evictions: int) -> Problem:
    """The same problem with so many outstanding copies at most."""
    engine = replace(
        given.target.copy_engine,
        max_outstanding_prefetches=prefetches,
        max_outstanding_evictions=evictions,
    )
    return replace(given, target=replace(given.target, copy_engine=engine))
