"""Reanalysis: trajectories of old, searched again with the network of today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.programs import Entry
from hybridalloc.agents.muzero.trajectory import Trajectory
from hybridalloc.game.fast import Position

AT_A_TIME = 64
"""Positions that are searched side by side."""


def reanalysed(
    trajectory: Trajectory,
    entry: Entry,
    decider: Decider,
    observing: Observing,
    temperature: float,
) -> Trajectory:
    """The same game, with new policies and values for its positions.

    Args:
        trajectory: A game of the program.
        entry: The program.
        decider: Searches.
        observing: Of the sizes that the decider's network is for.
        temperature: Of the searches.
    """
    policies, values = np.empty_like(trajectory.policies), trajectory.values.copy()
    done = 0
    for positions in _positions(trajectory, entry):
        seen = observing.observe(positions)
        heat = np.full(len(positions), temperature)
        decision = decider.decide(positions, seen, heat)
        rows = slice(done, done + len(positions))
        policies[rows], values[rows] = decision.policies, decision.values
        done += len(positions)
    return replace(trajectory, policies=policies, values=values)


def _positions(trajectory: Trajectory, entry: Entry) -> Iterator[list[Position]]:
    """Those that decisions were made in, some at a time, in the same memory."""
    position = entry.game.begin()
    room = [position.copy() for _ in range(min(AT_A_TIME, len(trajectory)))]
    waiting = 0
    for action in trajectory.actions.tolist():
        position.copy_to(room[waiting])
        position.apply(action)
        waiting += 1
        if waiting == len(room):
            yield room
            waiting = 0
    if waiting:
        yield room[:waiting]
