"""Turns of the fast game: one action, many, or random ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.action import INSTEAD
from hybridalloc.game.fast.acting import act
from hybridalloc.game.fast.preparing import prepare, prepare_one
from hybridalloc.game.fast.tables import (
    DROPPABLE,
    FORBIDDEN,
    OPTIONS,
    PLACES,
    SCORES,
    SECONDS,
    STEP,
    TURNS,
)
from hybridalloc.incremental.directory import float_row, int_row, ints
from hybridalloc.incremental.tables import SLOT_COLUMNS, Clock, State
from hybridalloc.jit import compiled

STATE, CLOCK = len(State._fields), len(Clock._fields)
"""How many tables of these kinds there are; those of ``Play`` follow."""


@compiled
def parts(where: Ints) -> tuple[Ints, Ints, Ints]:
    """The directories of the map, of the clock and of the rest of a position."""
    end = STATE + CLOCK
    return where[:STATE], where[STATE:end].reshape(1, CLOCK, 3), where[end:]


@compiled
def look(world: Ints, rules: Ints, where: Ints) -> int:
    """Work out what may be done: how many actions are legal."""
    state, clocks, play = parts(where)
    prepare(world, state, clocks, rules, play)
    count = 0
    for action in range(ints(play, OPTIONS).shape[0]):
        count += is_legal(play, action)
    return count


@compiled
def is_legal(play: Ints, action: int) -> bool:
    """Whether an action may be taken in a position that is worked out."""
    return bool(ints(play, OPTIONS)[action, SLOT_COLUMNS] != FORBIDDEN)


@compiled
def take(world: Ints, rules: Ints, where: Ints, action: int) -> bool:
    """Take an action: whether it was legal, and is taken."""
    state, clocks, play = parts(where)
    prepare(world, state, clocks, rules, play)
    if not is_legal(play, action):
        return False
    act(world, state, clocks, rules, play, action)
    return True


@compiled
def replay(world: Ints, rules: Ints, where: Ints, taken: Ints, pace: Floats) -> None:
    """Take actions that are legal, as they were noted.

    Args:
        world: Directory of the world.
        rules: Directory of the rules.
        where: Directory of the position.
        taken: The actions.
        pace: (actions,): takes what the program takes after each, in seconds.
    """
    state, clocks, play = parts(where)
    for k in range(taken.size):
        action = taken[k] % DROPPABLE
        if prepare_one(world, state, clocks, rules, play, action):
            act(world, state, clocks, rules, play, action)
        pace[k] = float_row(play, SCORES)[SECONDS]


@compiled
def follow(
    world: Ints,
    rules: Ints,
    where: Ints,
    line: Ints,
    free: NDArray[np.bool_],
    steps: int,
) -> int:
    """Play as a line has it: how many steps, fewer where one is free or none is legal.

    Args:
        world: Directory of the world.
        rules: Directory of the rules.
        where: Directory of the position.
        line: (steps,): an action for each step of the game; where it is not legal, the
            nearest is taken (``INSTEAD``).
        free: (steps,): the steps at which to stop.
        steps: How many are taken at most.
    """
    state, clocks, play = parts(where)
    places = int_row(play, PLACES)
    for made in range(steps):
        before = places[STEP]
        if before == line.size or free[before]:
            return made
        for action in INSTEAD[line[before]]:
            if prepare_one(world, state, clocks, rules, play, action):
                act(world, state, clocks, rules, play, action)
                break
        if places[STEP] == before:
            return made
    return steps


@compiled
def play_randomly(
    world: Ints, rules: Ints, where: Ints, steps: int, random: np.random.Generator
) -> int:
    """Take random legal actions: how many, fewer if the game ends or none is legal."""
    _, _, play = parts(where)
    for made in range(steps):
        if int_row(play, PLACES)[STEP] == ints(rules, TURNS).shape[0]:
            return made
        count = look(world, rules, where)
        if count == 0:
            return made
        left = int(random.random() * count)
        action = -1
        while left >= 0:
            action += 1
            left -= is_legal(play, action)
        take(world, rules, where, action)
    return steps
