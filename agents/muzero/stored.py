"""A trajectory in the replay buffer, ready for examples to be cut from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybridalloc.agents.muzero.model import Bools
from hybridalloc.agents.muzero.observing import Observations, Singles
from hybridalloc.agents.muzero.trajectory import Trajectory, shared
from hybridalloc.arrays import Floats

ANY = -1
"""Instead of an action, after the end."""


class Examples(NamedTuple):
    """Targets of a trajectory's L positions, and of K after the end."""

    observations: Observations
    """(L, ...)"""
    actions: NDArray[np.int8]
    """(L + K,)"""
    policies: Singles
    """(L + K, A)"""
    masks: Bools
    """(L + K, A)"""
    votes: Singles
    """(L + K, 3)"""
    values: Singles
    """(L + K,)"""
    rewards: Singles
    """(L + K,)"""

    def at(self, position: int, steps: int) -> tuple[Any, ...]:
        """The example of a position: one of each field, with so many steps after it."""
        now, until = position, position + steps
        return (
            tuple(x[now] for x in self.observations),
            self.actions[now:until],
            self.policies[now : until + 1],
            self.masks[now : until + 1],
            self.votes[now : until + 1],
            self.values[now : until + 1],
            self.rewards[now:until],
        )


class Stored:
    """A trajectory, and how likely its positions are drawn."""

    def __init__(
        self, key: int, version: int, trajectory: Trajectory, priorities: Floats
    ) -> None:
        """Take a trajectory.

        Args:
            key: Of it.
            version: When its policies and values were made.
            trajectory: A game to its end.
            priorities: (L,): call ``sum_up`` after changing them.
        """
        self.key, self.version = key, version
        self.trajectory, self.priorities = trajectory, priorities
        self.earned = float(trajectory.returns[0])
        """The return of the game."""
        self._examples: dict[bool, Examples] = {}
        self.sum_up()

    @property
    def total(self) -> float:
        """The sum of the priorities."""
        return float(self.sums[-1])

    def sum_up(self) -> None:
        """Add up the priorities: one after the other, so always to the same sum."""
        self.sums = np.cumsum(self.priorities)

    def examples(self, steps: int, bootstrap: int, smoothing: float | None) -> Examples:
        """What is to be learned of it.

        Args:
            steps: After the end, K.
            bootstrap: Steps before the value of the search counts; 0 for none.
            smoothing: If given, its own actions and return are the targets, instead
                of what the search has made of the positions; so much of a policy all
                legal actions have alike.
        """
        is_copied = smoothing is not None
        if is_copied not in self._examples:
            trajectory = self.trajectory
            if smoothing is None:
                policies = trajectory.policies
                values = value_targets(trajectory, bootstrap)
            else:
                values = trajectory.returns
                policies = smoothed(trajectory, smoothing)
            self._examples[is_copied] = Examples(
                trajectory.observations,
                _longer(trajectory.actions, steps, ANY),
                _longer(policies, steps, 1 / policies.shape[1]),
                _longer(trajectory.masks, steps, False),
                _longer(trajectory.votes, steps, 0),
                _longer(values.astype(np.float32), steps, 0),
                _longer(trajectory.rewards, steps, 0),
            )
        return self._examples[is_copied]


def value_targets(trajectory: Trajectory, bootstrap: int) -> Floats:
    """(L,): the rewards of so many steps, and the value of the search after them.

    Args:
        trajectory: A game to its end.
        bootstrap: How many steps; 0 for all to the end.
    """
    to_come = np.append(trajectory.returns, 0.0)
    count = len(trajectory)
    if bootstrap == 0:
        return to_come[:-1]
    later = np.minimum(np.arange(count) + bootstrap, count)
    values = np.append(trajectory.values.astype(np.float64), 0.0)
    targets: Floats = to_come[:-1] - to_come[later] + values[later]
    return targets


def smoothed(trajectory: Trajectory, smoothing: float) -> Singles:
    """(L, A): policies for what was done, but for a share of all that is legal."""
    legal = shared(trajectory.masks)
    policies = (1 - smoothing) * shared(trajectory.alike) + smoothing * legal
    result: Singles = policies.astype(np.float32)
    return result


def _longer(array: Any, steps: int, value: float) -> Any:
    """An array with more rows of one value."""
    more = np.full((steps, *array.shape[1:]), value, array.dtype)
    return np.concatenate((array, more))
