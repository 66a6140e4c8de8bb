"""A model that looks everything up: states, and where each action leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hybridalloc.agents.muzero.model import Bools, Evaluation, Expansion
from hybridalloc.agents.muzero.search import SearchConfig, SearchResult, search
from hybridalloc.arrays import Floats, Ints

if TYPE_CHECKING:
    from hybridalloc.agents.muzero.observing import Observations
    from hybridalloc.game.fast import Position


@dataclass(frozen=True)
class Table:
    """States S with A actions; each game of a batch begins in one."""

    successors: Ints
    """(S, A)."""
    rewards: Floats
    """(S, A)."""
    logits: Floats
    """(S, A)."""
    values: Floats
    """(S,)."""
    masks: Bools
    """(S, A): legal actions; none where the game has ended."""


@dataclass
class TableModel:
    """Looks states up, and writes down the steps that it was asked for."""

    table: Table
    steps: list[tuple[int, int, int, int]] = field(default_factory=list)
    """(game, parent, action, node) of each."""
    states: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """(B, N): of each node."""

    def start(self, states: Sequence[int], simulations: int) -> Evaluation:
        """Begin games in these states."""
        self.steps.clear()
        self.states = np.full((len(states), simulations + 1), -1)
        self.states[:, 0] = states
        return self.evaluation(self.states[:, 0])

    def evaluation(self, states: Ints) -> Evaluation:
        """What the table says of states."""
        table = self.table
        return Evaluation(
            table.logits[states], table.values[states], table.masks[states]
        )

    def begin(
        self,
        positions: Sequence[Position],
        observations: Observations,
        simulations: int,
    ) -> Evaluation:
        """Games have no positions here."""
        raise NotImplementedError

    def expand(
        self, games: Ints, parents: Ints, actions: Ints, nodes: Ints
    ) -> Expansion:
        """Take steps, which have to be legal ones to new nodes."""
        steps = (x.tolist() for x in (games, parents, actions, nodes))
        self.steps += zip(*steps, strict=True)
        before = self.states[games, parents]
        assert self.table.masks[before, actions].all()
        assert (self.states[games, nodes] == -1).all()
        after = self.table.successors[before, actions]
        self.states[games, nodes] = after
        terminal: Bools = self.table.masks[after].sum(axis=1) == 0
        rewards = self.table.rewards[before, actions]
        return Expansion(rewards, terminal, self.evaluation(after))


def searched(
    model: TableModel,
    states: Sequence[int],
    config: SearchConfig,
    noise: Floats | Sequence[Sequence[float]] | None = None,
) -> SearchResult:
    """Search from these states, with this noise at the roots: (B, A), 0 if not told."""
    roots = model.start(states, config.simulations)
    drawn = np.zeros(roots.logits.shape) if noise is None else np.array(noise)
    return search(model, roots, config, drawn)


def random_table(
    rng: np.random.Generator, states: int, actions: int, unit: float = 1.0
) -> Table:
    """A table drawn at random: some actions are illegal, and some states ends.

    Args:
        rng: Draws it.
        states: How many; the first is no end.
        actions: How many.
        unit: Of rewards and values.
    """
    masks = rng.random((states, actions)) < 0.75
    masks[rng.random(states) < 0.15] = False
    masks[0, 0] = True
    return Table(
        successors=rng.integers(0, states, (states, actions)),
        rewards=unit * rng.normal(size=(states, actions)).round(3),
        logits=2 * rng.normal(size=(states, actions)).round(3),
        values=unit * rng.normal(size=states).round(3),
        masks=masks,
    )
