"""Sequential halving: which action at the root each simulation takes.

*Almost optimal exploration in multi-armed bandits* (Karnin et al., ICML 2013), as in
Danihelka et al., figure 1: in each phase the actions that are left are taken equally
often, and the worse half of them is left out of the next.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints


def halving(actions: int, simulations: int) -> list[int]:
    """How often the action has been taken that each simulation is to take.

    Of the actions with that many visits it is the best one, so this says it all.

    >>> halving(4, simulations=12)
    [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    """
    if actions == 1:
        return list(range(simulations))
    phases = (actions - 1).bit_length()  # the logarithm, rounded up
    turns: list[int] = []
    visits = 0
    while len(turns) < simulations:
        for _ in range(max(1, simulations // (phases * actions))):
            turns += [visits] * actions
            visits += 1
        actions = max(2, actions // 2)
    return turns[:simulations]


def turns_of(legal: Ints, considered: int, simulations: int) -> Ints:
    """(simulations, B): the visits of the action to take in each game.

    Args:
        legal: (B,): how many actions are legal at each root, at least one.
        considered: How many are considered, if so many are legal.
        simulations: Of each game.
    """
    table = np.array([halving(x, simulations) for x in range(1, considered + 1)])
    return np.ascontiguousarray(table[np.minimum(legal, considered) - 1].T)
