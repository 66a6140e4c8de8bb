"""What the search knows of a model: positions evaluated, and steps taken from them.

Rewards and values are fractions of the way from the time of a program with everything
in slow memory to its lower bound. K are positions in a batch, A the actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats, Ints

if TYPE_CHECKING:
    from hybridalloc.agents.muzero.observing import Observations
    from hybridalloc.game.fast import Position

Bools = NDArray[np.bool_]


class Evaluation(NamedTuple):
    """What a model holds of K positions."""

    logits: Floats
    """(K, A): of the policy; those of illegal actions do not matter."""
    values: Floats
    """(K,): the return to come."""
    masks: Bools
    """(K, A): which actions are legal; where a model cannot know, all."""


class Expansion(NamedTuple):
    """What K steps have led to."""

    rewards: Floats
    """(K,): of the steps."""
    terminal: Bools
    """(K,): whether nothing comes after; then the evaluation does not matter."""
    evaluation: Evaluation
    """Of the positions after the steps."""


class Model(Protocol):
    """Plays B games from their roots, and keeps the state of every node itself."""

    def begin(
        self,
        positions: Sequence[Position],
        observations: Observations,
        simulations: int,
    ) -> Evaluation:
        """Forget the games before, and evaluate the roots of new ones.

        Args:
            positions: (B,): the roots, node 0 of each game.
            observations: Of the roots.
            simulations: The nodes that will come to each game at most.
        """
        ...

    def expand(
        self, games: Ints, parents: Ints, actions: Ints, nodes: Ints
    ) -> Expansion:
        """Take a step in each of some games.

        Args:
            games: (K,): which, each at most once.
            parents: (K,): the node that is left.
            actions: (K,): the action, legal there.
            nodes: (K,): the new node that is reached.
        """
        ...
