"""Deciding: what is played in a batch of positions, with and without search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from hybridalloc.agents.muzero.model import Evaluation, Model
from hybridalloc.agents.muzero.models import LearnedModel
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observations
from hybridalloc.agents.muzero.search import SearchConfig, search
from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.fast import Position


class Decision(NamedTuple):
    """What to play in B positions, and what it comes from."""

    actions: Ints
    """(B,)"""
    policies: Floats
    """(B, A): probabilities; of a search those that it has improved."""
    values: Floats
    """(B,): the return to come, as a fraction of the way to the bound."""


class Decider(Protocol):
    """Decides in many positions at once."""

    def decide(
        self,
        positions: Sequence[Position],
        observations: Observations,
        temperatures: Floats,
    ) -> Decision:
        """What to play in positions that are not at their end.

        Args:
            positions: B of them.
            observations: Of these.
            temperatures: (B,): 1 draws actions as the policy has them, 0 takes the
                likeliest.
        """
        ...


class PolicyDecider:
    """Plays the network's policy, without search."""

    def __init__(
        self,
        network: Network,
        random: np.random.Generator,
        prior: float | None = None,
    ) -> None:
        """Take what plays.

        Args:
            network: In the mode for evaluation.
            random: What draws.
            prior: The weight of the heuristics' votes; by default the network's trust.
        """
        self._model, self._random = LearnedModel(network, prior), random

    def decide(
        self,
        positions: Sequence[Position],
        observations: Observations,
        temperatures: Floats,
    ) -> Decision:
        """Draw from the policy."""
        roots = self._model.begin(positions, observations, 0)
        actions = favoured(roots, noise(roots, temperatures, self._random))
        return Decision(actions, probabilities(roots), roots.values)


class SearchDecider:
    """Searches where the policy is unsure, and plays it where it is not."""

    def __init__(
        self,
        model: Model,
        config: SearchConfig,
        random: np.random.Generator,
        *,
        sure: float = 1.0,
    ) -> None:
        """Take what plays.

        Args:
            model: What the search plans with, and whose policy is played without.
            config: Of the search.
            random: What draws.
            sure: From which probability of an action on there is no search; 1 searches
                wherever there is a choice.
        """
        self._model, self._config = model, config
        self._random, self._sure = random, sure

    def decide(
        self,
        positions: Sequence[Position],
        observations: Observations,
        temperatures: Floats,
    ) -> Decision:
        """Search, or play the policy, position by position."""
        roots = self._model.begin(positions, observations, 0)
        policies, values = probabilities(roots), roots.values.copy()
        drawn = noise(roots, temperatures, self._random)
        actions = favoured(roots, drawn)
        choices = roots.masks.sum(axis=1) > 1
        unsure = np.flatnonzero(choices & ~(policies.max(axis=1) > self._sure))
        if len(unsure):
            some = [positions[i] for i in unsure.tolist()]
            found = self._search(some, observations, unsure, drawn[unsure])
            actions[unsure], policies[unsure] = found.actions, found.policies
            values[unsure] = found.values
        return Decision(actions, policies, values)

    def _search(
        self,
        positions: Sequence[Position],
        observations: Observations,
        rows: Ints,
        drawn: Floats,
    ) -> Decision:
        some = Observations(*(x[rows] for x in observations))
        simulations = self._config.simulations
        roots = self._model.begin(positions, some, simulations)
        found = search(self._model, roots, self._config, drawn)
        return Decision(found.action, found.policy, found.value)


def probabilities(roots: Evaluation) -> Floats:
    """(B, A): the policy over the legal actions."""
    return _softmax(np.where(roots.masks, roots.logits, -np.inf))


def noise(
    roots: Evaluation, temperatures: Floats, random: np.random.Generator
) -> Floats:
    """(B, A): Gumbel noise, by temperatures (B,)."""
    gumbel = random.gumbel(size=roots.logits.shape)
    result: Floats = temperatures[:, np.newaxis] * gumbel
    return result


def favoured(roots: Evaluation, drawn: Floats) -> Ints:
    """(B,): the legal actions that policy and noise (B, A) favour."""
    actions: Ints = np.where(roots.masks, roots.logits + drawn, -np.inf).argmax(axis=1)
    return actions


def _softmax(logits: Floats) -> Floats:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: Floats = shifted / shifted.sum(axis=1, keepdims=True)
    return result
