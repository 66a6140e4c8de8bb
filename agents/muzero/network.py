"""MuZero's network: representation, dynamics, prediction (arXiv 1911.08265)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from hybridalloc.agents.muzero.blocks import Residual, scale_to_unit
from hybridalloc.agents.muzero.config import CPU, NetworkConfig
from hybridalloc.agents.muzero.perception import Representation, Seen
from hybridalloc.agents.muzero.support import Support


class Dynamic(NamedTuple):
    """What follows B hidden states and actions."""

    state: Tensor
    """(B, width): the next hidden state."""
    reward_logits: Tensor
    """(B, reward bins)"""


class Prediction(NamedTuple):
    """What is expected in B hidden states."""

    policy_logits: Tensor
    """(B, actions)"""
    trust_logits: Tensor
    """(B,): of the weight of the heuristics' votes in the policy; minus infinity for a
    network that knows none."""
    value_logits: Tensor
    """(B, value bins)"""


class Network(nn.Module):
    """What the agent has learned.

    Hidden states are within [0, 1]. Before anything is learned, all policies are
    uniform and all values and rewards 0.
    """

    def __init__(self, config: NetworkConfig = CPU) -> None:
        super().__init__()
        self.config = config
        width, actions = config.width, config.actions
        self.representation = Representation(config)
        self.actions = nn.Embedding(actions, width)
        self.dynamics_blocks = _blocks(width, config.dynamics_blocks)
        self.reward_head = _head(width, config.reward.bins)
        self.prediction_blocks = _blocks(width, config.predict_blocks)
        self.policy_head = _head(width, actions)
        self.trust_head = _head(width, 1) if config.observation.heuristics else None
        self.value_head = _head(width, config.value.bins)
        self.values = Support(config.value)
        self.rewards = Support(config.reward)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.actions.weight.device

    @property
    def parameter_count(self) -> int:
        """How many numbers are learned."""
        return sum(x.numel() for x in self.parameters())

    def represent(self, seen: Seen) -> Tensor:
        """The hidden states (B, width) of observed positions."""
        state: Tensor = self.representation(seen)
        return state

    def dynamics(self, state: Tensor, actions: Tensor) -> Dynamic:
        """What follows an action in a hidden state.

        Args:
            state: (B, width)
            actions: (B,), integers
        """
        after = self.dynamics_blocks(state + self.actions(actions))
        after = scale_to_unit(after)
        return Dynamic(after, self.reward_head(after))

    def predict(self, state: Tensor) -> Prediction:
        """What is expected in hidden states (B, width)."""
        features = self.prediction_blocks(state)
        return Prediction(
            self.policy_head(features), self._trust(features), self.value_head(features)
        )

    def _trust(self, features: Tensor) -> Tensor:
        if self.trust_head is None:
            return features.new_full(features.shape[:-1], -torch.inf)
        trust: Tensor = self.trust_head(features).squeeze(-1)
        return trust


def _blocks(width: int, count: int) -> nn.Sequential:
    return nn.Sequential(*(Residual(width) for _ in range(count)))


def _head(width: int, outputs: int) -> nn.Sequential:
    """A layer of outputs that are 0 at first."""
    last = nn.Linear(width, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.LayerNorm(width), last)
