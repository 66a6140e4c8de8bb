"""Validation: how well the network plays programs that it does not learn from."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hybridalloc.agents.muzero.deciding import Decider
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.play import play
from hybridalloc.agents.muzero.programs import Entry


def speed_up(
    entries: Sequence[Entry], most: int, decider: Decider, observing: Observing
) -> float:
    """How much faster than from slow memory programs are, as the player maps them.

    Args:
        entries: The programs, at least one.
        most: How many are played, at most: the shortest.
        decider: Who plays a game of each.
        observing: Of the sizes that the player's network is for.

    Returns:
        The geometric mean.
    """
    order = sorted(range(len(entries)), key=lambda i: len(entries[i].game.game.steps))
    logs = []
    for game in play(entries, order[:most], decider, observing, temperature=0.0):
        slow_s = entries[game.entry].game.first.time_s
        logs.append(math.log(slow_s / game.time_s))
    return math.exp(sum(logs) / len(logs))
