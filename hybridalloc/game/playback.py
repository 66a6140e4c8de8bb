"""Playback: the game's nearest trajectory to a valid map."""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.game.action import Action
from hybridalloc.game.game import Game
from hybridalloc.game.state import State
from hybridalloc.memory_map import MemoryMap
from hybridalloc.recognition import recognise

STAY, COPY, DROP = Action.NO_COPY, Action.COPY, Action.DROP
INSTEAD = {STAY: (STAY, COPY, DROP), COPY: (COPY, STAY, DROP), DROP: (DROP, STAY)}
"""What is done where the first is not legal: the next one that is."""


def playback(game: Game, memory_map: MemoryMap) -> State:
    """Play a map as well as the game can.

    Args:
        game: Of the same problem.
        memory_map: A valid map.

    Returns:
        The end of the game.
    """
    served, state = dict(_served(game, memory_map)), State.begin(game)
    while not state.is_terminal:
        step = game.steps[state.step]
        kind, offset = served.get((step.buffer, step.use), (DROP, 0))
        state = state.apply(_nearest(state, kind, offset))
    return state


def _nearest(state: State, kind: Action, offset: int) -> Action:
    """The legal action that comes nearest to one, at this offset."""
    buffer = state.game.steps[state.step].buffer
    for instead in INSTEAD[kind]:
        places = {
            action: abs(one.offset - offset) if (one := after.of(buffer)) else 0
            for action, after in state.after.items()
            if action.kind is instead
        }
        if places:
            return min(places, key=lambda x: places[x])
    return Action.DROP


def _served(
    game: Game, memory_map: MemoryMap
) -> Iterator[tuple[tuple[int, int], tuple[Action, int]]]:
    """The accesses, by buffer and use, that the map serves from fast memory.

    And the action that this amounts to, and where they are.
    """
    for found in recognise(game.problem.program, game.loops, memory_map):
        stay, offset = found.stay, found.allocations[0].offset or 0
        begins = STAY if stay.produced else COPY
        for use in range(stay.first, stay.last + 1):
            kind = begins if use == stay.first else STAY
            yield (stay.buffer, use), (kind, offset)
