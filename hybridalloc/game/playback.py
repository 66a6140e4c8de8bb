"""Playback: the game's nearest trajectory to a valid map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.game.action import INSTEAD, Action
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.game import Game
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.recognition import recognise

CROSS_PROGRAM = Origin.CROSS_PROGRAM
STAY, COPY, DROP = Action.NO_COPY, Action.COPY, Action.DROP


def playback(game: FastGame, memory_map: MemoryMap) -> Position:
    """Play a map as well as the game can.

    Args:
        game: Of the same problem.
        memory_map: A valid map.

    Returns:
        The end of the game; its ``taken`` are the actions.
    """
    line, position = line_of(game.game, memory_map).tolist(), game.begin()
    left = {x.buffer for x in memory_map.allocations if x.origin is CROSS_PROGRAM}
    while not position.is_terminal:
        step = game.game.steps[position.step]
        mask = position.mask()
        wishes = [x for x in INSTEAD[line[position.step]] if mask[x]]
        if left and step.buffer not in left and position.copy_is_cross_program:
            wishes = [x for x in wishes if x is not COPY] or wishes
        position.apply(wishes[0])
    return position


def line_of(game: Game, memory_map: MemoryMap) -> Ints:
    """(steps,): the actions that a map amounts to; one by one, they may be illegal.

    Args:
        game: Of the same problem.
        memory_map: A valid map.
    """
    found = dict(_served(game, memory_map))
    wishes = [found.get((x.buffer, x.use), DROP) for x in game.steps]
    return np.array(wishes, np.int64)


def _served(
    game: Game, memory_map: MemoryMap
) -> Iterator[tuple[tuple[int, int], Action]]:
    """The accesses, by buffer and use, that the map serves from fast memory.

    And the action that this amounts to.
    """
    for found in recognise(game.problem.program, game.loops, memory_map):
        stay = found.stay
        begins = STAY if stay.produced else COPY
        for use in range(stay.first, stay.last + 1):
            yield (stay.buffer, use), begins if use == stay.first else STAY
