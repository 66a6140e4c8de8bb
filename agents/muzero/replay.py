"""The replay buffer: trajectories, and batches of positions drawn from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybridalloc.agents.muzero.model import Bools
from hybridalloc.agents.muzero.observing import Observations, Singles
from hybridalloc.agents.muzero.stored import Examples, Stored
from hybridalloc.agents.muzero.trajectory import Trajectory
from hybridalloc.arrays import Floats
from hybridalloc.game import Action
from hybridalloc.game.observation.tables import FEATURES
from hybridalloc.ranges import require_within


@dataclass(frozen=True, slots=True)
class ReplayConfig:
    """What is kept, and how it is drawn."""

    decisions: int = 60_000
    """That are kept at most, but for the best trajectories; one takes about 5 kB."""
    sharpness: float = 0.5
    """How much more often what was judged wrongly is drawn: not at all for 0, in
    proportion to the error for 1 (prioritised experience replay, alpha)."""
    correction: float = 0.5
    """How far weights make up for that: fully for 1 (beta)."""
    balance: float = 0.6
    """How much more often games are drawn that are longer: not at all for 0, in
    proportion to their length for 1."""
    bootstrap: int = 32
    """Steps of rewards before a value target trusts the search; 0 trusts the rewards
    to the end alone."""
    imitated: float = 0.25
    """The share of a batch from the best trajectory of each program, whose actions are
    then the targets."""
    alone: float = 0.25
    """The share of a batch without heuristics: so the network plays without, too."""
    smoothing: float = 0.03
    """The share of such a target that all legal actions have alike."""

    def __post_init__(self) -> None:
        require_within("decisions", self.decisions, 1)
        require_within("bootstrap", self.bootstrap, 0)
        names = ("sharpness", "correction", "balance", "imitated", "alone", "smoothing")
        for name in names:
            require_within(name, getattr(self, name), 0, 1)


class Batch(NamedTuple):
    """B positions and the K steps from each, as ``Targets`` has them."""

    observations: Observations
    """(B, ...): of float16."""
    actions: NDArray[np.int64]
    """(B, K): random ones after the end."""
    policies: Singles
    """(B, K + 1, A): uniform after the end."""
    masks: Bools
    """(B, K + 1, A): nothing is legal after the end."""
    votes: Singles
    """(B, K + 1, 3): 0 after the end, and where nobody is asked."""
    values: Singles
    """(B, K + 1): 0 after the end."""
    rewards: Singles
    """(B, K): 0 after the end."""
    weights: Singles
    """(B,): at most 1."""
    places: list[tuple[int, int]]
    """(B,): the trajectory's key, and the position in it."""


class Replay:
    """Trajectories by key, from the oldest on.

    The best trajectory of each program stays; of the others, the newest.
    """

    def __init__(self, config: ReplayConfig, unroll: int) -> None:
        """Begin with nothing.

        Args:
            config: What is kept.
            unroll: The steps from each position, K.
        """
        self._config, self._unroll = config, unroll
        self._stored: dict[int, Stored] = {}
        self._best: dict[int, int] = {}

    def __len__(self) -> int:
        """Decisions."""
        return sum(len(x.trajectory) for x in self)

    def __iter__(self) -> Iterator[Stored]:
        return iter(self._stored.values())

    def best(self, entry: int) -> Trajectory | None:
        """The best trajectory of a program."""
        key = self._best.get(entry)
        return None if key is None else self._stored[key].trajectory

    def best_return(self, entry: int) -> float:
        """The largest return that is known of a program; minus infinity for none."""
        key = self._best.get(entry)
        return -np.inf if key is None else self._stored[key].earned

    def add(self, key: int, version: int, trajectory: Trajectory) -> None:
        """Keep a new trajectory, which is as likely to be drawn as any.

        Args:
            key: Larger than all before.
            version: When its policies and values were made.
            trajectory: A game to its end.
        """
        most = max((float(x.priorities.max()) for x in self), default=1.0)
        self._put(Stored(key, version, trajectory, np.full(len(trajectory), most)))
        self._forget()

    def restore(self, stored: Iterable[tuple[int, int, Trajectory, Floats]]) -> None:
        """Keep what another had: keys, versions, trajectories and priorities."""
        for each in stored:
            self._put(Stored(*each))

    def renew(self, key: int, version: int, trajectory: Trajectory) -> None:
        """Put a trajectory with new policies and values in the place of an old one."""
        old = self._stored[key]
        self._stored[key] = Stored(key, version, trajectory, old.priorities)

    def stalest(self, count: int) -> list[Stored]:
        """The games whose policies and values are the oldest; no demonstrations."""
        games = [x for x in self if not x.trajectory.is_demonstration]
        return sorted(games, key=lambda x: (x.version, x.key))[:count]

    def sample(self, count: int, random: np.random.Generator) -> Batch:
        """Draw positions.

        Args:
            count: How many, B.
            random: What draws.
        """
        copied = [x for x in self if self._is_copied(x)]
        share = round(self._config.imitated * count) if copied else 0
        drawn = self._draw(list(self), count - share, random, is_copied=False)
        drawn += self._draw(copied, share, random, is_copied=True)
        return self._batch(drawn, random)

    def update(self, batch: Batch, errors: Floats) -> None:
        """Learn how far off the values of a batch were, (B,), where that is known."""
        priorities = (np.abs(errors) + 1e-3) ** self._config.sharpness
        changed = set()
        for (key, position), priority in zip(batch.places, priorities, strict=True):
            if np.isfinite(priority):
                self._stored[key].priorities[position] = priority
                changed.add(key)
        for key in changed:
            self._stored[key].sum_up()

    def _put(self, stored: Stored) -> None:
        self._stored[stored.key] = stored
        entry = stored.trajectory.entry
        if stored.earned > self.best_return(entry):
            self._best[entry] = stored.key

    def _forget(self) -> None:
        over = len(self) - self._config.decisions
        for stored in list(self):
            if over <= 0:
                return
            if not self._is_copied(stored):
                del self._stored[stored.key]
                over -= len(stored.trajectory)

    def _is_copied(self, stored: Stored) -> bool:
        return self._best[stored.trajectory.entry] == stored.key

    def _draw(
        self,
        pool: list[Stored],
        count: int,
        random: np.random.Generator,
        *,
        is_copied: bool,
    ) -> list[tuple[Examples, int, int, float]]:
        """Examples, keys, positions, and weights that make up for their priorities."""
        config, drawn = self._config, []
        totals = np.cumsum(
            [x.total * len(x.trajectory) ** (config.balance - 1) for x in pool]
        )
        for share, inner in random.random((count, 2)):
            stored = pool[_place(totals, share)]
            position = _place(stored.sums, inner)
            weight = stored.priorities[position] ** -config.correction
            examples = stored.examples(
                self._unroll, config.bootstrap, config.smoothing if is_copied else None
            )
            drawn.append((examples, stored.key, position, weight))
        return drawn

    def _batch(
        self,
        drawn: list[tuple[Examples, int, int, float]],
        random: np.random.Generator,
    ) -> Batch:
        steps = self._unroll
        rows = [x.at(position, steps) for x, _, position, _ in drawn]
        observations, actions, *targets = zip(*rows, strict=True)
        policies, masks, votes, values, rewards = map(np.stack, targets)
        acted = np.stack(actions).astype(np.int64)
        anything = random.integers(0, masks.shape[2], acted.shape)
        weights = np.array([x[3] for x in drawn])
        seen = Observations(*map(np.stack, zip(*observations, strict=True)))
        alone = random.random(len(drawn)) < self._config.alone
        leave_alone(alone, seen.tokens, policies, masks, votes)
        return Batch(
            observations=seen,
            actions=np.where(acted < 0, anything, acted),
            policies=policies,
            masks=masks,
            votes=votes,
            values=values,
            rewards=rewards,
            weights=(weights / weights.max()).astype(np.float32),
            places=[(key, position) for _, key, position, _ in drawn],
        )


def leave_alone(
    alone: Bools, tokens: Singles, policies: Singles, masks: Bools, votes: Singles
) -> None:
    """Take the heuristics out of some examples, as if there were none.

    Args:
        alone: (B,): of which.
        tokens: (B, tokens, 27 + 3 H)
        policies: (B, K + 1, A): what they have of options, the three have instead.
        masks: (B, K + 1, A)
        votes: (B, K + 1, 3)
    """
    first = len(Action)
    tokens[alone, ..., FEATURES:] = 0
    votes[alone] = 0
    masks[alone, :, first:] = False
    own = policies[alone]
    own[..., first:] = 0
    total = own.sum(axis=2, keepdims=True)
    legal = masks[alone].astype(np.float32)
    legal /= np.maximum(1, legal.sum(axis=2, keepdims=True))
    policies[alone] = np.where(total > 0, own / np.where(total > 0, total, 1), legal)


def _place(sums: Floats, share: float) -> int:
    """The index of the part of a sum that a share of it falls into.

    >>> [_place(np.array([1.0, 3.0, 4.0]), x) for x in (0.0, 0.3, 0.74, 0.76)]
    [0, 1, 1, 2]
    """
    found = int(np.searchsorted(sums, share * sums[-1], side="right"))
    return min(found, len(sums) - 1)
