"""What the network is trained for: MuZero's loss, unrolled over K steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hybridalloc.agents.muzero.network import Network, Prediction
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.agents.muzero.prior import LEAST_LOGIT, mixed
from hybridalloc.ranges import require_within

STATE_GRADIENT = 0.5
"""What is left of the gradient of a hidden state at each step of the dynamics."""


@dataclass(frozen=True, slots=True)
class LossConfig:
    """What each part of the loss weighs, against that of the policy."""

    value: float = 0.25
    """Of the value."""
    reward: float = 1.0
    """Of the reward."""

    def __post_init__(self) -> None:
        require_within("value", self.value, 0)
        require_within("reward", self.reward, 0)


class Targets(NamedTuple):
    """What is to be learned of B positions and the K steps from each.

    A position after the end has no legal action; its value, and the reward of the
    step to it unless that is the last of the game, are 0.
    """

    actions: Tensor
    """(B, K), integers: what was done; anything after the end."""
    policies: Tensor
    """(B, K + 1, A): the improved policies of the search, 0 for illegal actions."""
    masks: Tensor
    """(B, K + 1, A), bool: which actions are legal."""
    votes: Tensor
    """(B, K + 1, 3): of heuristics, which are mixed into the policy; 0 for none."""
    values: Tensor
    """(B, K + 1): the return to come."""
    rewards: Tensor
    """(B, K): of the steps."""
    weights: Tensor
    """(B,): what each example weighs, to make up for how often it is drawn."""


class Loss(NamedTuple):
    """The loss of a batch, and what it is made of."""

    total: Tensor
    """(): what is to be made small."""
    policy: Tensor
    """(): cross-entropy against the improved policies, as it is in the total."""
    value: Tensor
    """(), before it is weighed with the other parts."""
    reward: Tensor
    """(), likewise."""
    value_errors: Tensor
    """(B,): how far off the value of the first position is."""


def unrolled_loss(
    network: Network,
    seen: Seen,
    targets: Targets,
    config: LossConfig | None = None,
) -> Loss:
    """The loss of predictions from the first position on, by imagined steps alone.

    As in MuZero (appendix G), the later steps weigh 1/K each, and the gradient of a
    hidden state is halved at each step.

    Args:
        network: What is trained.
        seen: The first positions, of B examples.
        targets: What they are to be taken for, over K steps; K may be 0.
        config: What the parts weigh.
    """
    config = config or LossConfig()
    prediction, rewards, steps = _unroll(network, seen, targets.actions)
    share = torch.full((steps + 1,), 1.0 / max(1, steps), device=network.device)
    share[0] = 1.0
    policy = _policy_losses(prediction, targets) @ share
    numbers = network.values.encode(targets.values)
    value = _cross_entropy(prediction.value_logits, numbers) @ share
    numbers = network.rewards.encode(targets.rewards)
    reward = _cross_entropy(rewards, numbers) @ share[1:]
    policy, value, reward = (
        (x * targets.weights).mean() for x in (policy, value, reward)
    )
    total = policy + config.value * value + config.reward * reward
    expected = network.values.decode(prediction.value_logits[:, 0].detach())
    errors = (expected - targets.values[:, 0]).abs()
    return Loss(total, policy.detach(), value.detach(), reward.detach(), errors)


def _unroll(
    network: Network, seen: Seen, actions: Tensor
) -> tuple[Prediction, Tensor, int]:
    """Predictions (B, K + 1, ...), logits of rewards (B, K, bins), and K."""
    steps = actions.shape[1]
    state = network.represent(seen)
    states = [state]
    rewards = [state.new_zeros(len(state), 0, network.config.reward.bins)]
    for k in range(steps):
        state, reward = network.dynamics(_scaled(state), actions[:, k])
        states.append(state)
        rewards.append(reward.unsqueeze(1))
    return network.predict(torch.stack(states, 1)), torch.cat(rewards, 1), steps


def _scaled(state: Tensor) -> Tensor:
    """The same numbers, with a smaller gradient."""
    return STATE_GRADIENT * state + (1 - STATE_GRADIENT) * state.detach()


def _policy_losses(prediction: Prediction, targets: Targets) -> Tensor:
    """(B, K + 1): 0 after the end.

    Of the first position the legal actions are known wherever the policy is asked for;
    in the ones that are imagined, the policy itself has to tell.
    """
    allowed = targets.masks.clone()
    allowed[:, 1:] = True
    allowed[:, 0] |= ~targets.masks[:, 0].any(-1, keepdim=True)
    logits = prediction.policy_logits.masked_fill(~allowed, LEAST_LOGIT)
    logits = mixed(logits, targets.votes, prediction.trust_logits)
    within = targets.masks.any(-1)
    return _cross_entropy(logits, targets.policies) * within


def _cross_entropy(logits: Tensor, probabilities: Tensor) -> Tensor:
    """(..., n) and (..., n) to (...,)."""
    return -(probabilities * logits.log_softmax(-1)).sum(-1)
