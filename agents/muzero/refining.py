"""Refining: the best games of programs, made better by variations of them."""

from __future__ import annotations

from itertools import islice

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.openings import openings
from hybridalloc.agents.muzero.programs import Entry
from hybridalloc.agents.muzero.trajectory import Trajectory, imitable
from hybridalloc.agents.muzero.variations import Variations, ends

SIDE_BY_SIDE = 32
"""Games that are played at a time."""


def refined(
    best: Trajectory,
    entry: Entry,
    count: int,
    decider: Decider,
    observing: Observing,
    random: np.random.Generator,
) -> Trajectory | None:
    """A better game than the best one so far, if variations come to one.

    The openings count among them.

    Args:
        best: The best game of the program.
        entry: The program.
        count: Variations that are played.
        decider: Decides in them.
        observing: Of the sizes that the decider's network is for.
        random: Draws the variations.
    """
    variations, found = Variations(entry.game, random), None
    variations.offer(best.end(entry))
    for opening in openings(entry.game, lambda: False):
        if variations.offer(opening.end):
            found = opening.end
    games = islice(variations.games(), count)
    for end in ends(games, SIDE_BY_SIDE, decider, observing, lambda: False):
        if variations.offer(end):
            found = end
    if found is None:
        return None
    actions = found.line.astype(np.int8)
    return imitable(entry, best.entry, actions, observing, is_demonstration=False)
