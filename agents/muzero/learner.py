"""The learner: steps of gradient descent on batches of positions."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hybridalloc.agents.muzero.loss import LossConfig, Targets, unrolled_loss
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.agents.muzero.replay import Batch
from hybridalloc.arrays import Floats
from hybridalloc.ranges import require_within

OPTIMISERS = ("adamw", "sgd")


@dataclass(frozen=True, slots=True)
class LearnerConfig:
    """How the network is changed by what is seen."""

    optimiser: str = "adamw"
    """``adamw``, or ``sgd`` with momentum."""
    rate: float = 1e-3
    """The largest learning rate."""
    warm_up: int = 100
    """Steps in which it grows from 0."""
    decay: int = 10_000
    """Steps in which it falls then, by half a cosine."""
    least: float = 0.1
    """The share of it that remains after that."""
    weight_decay: float = 1e-3
    momentum: float = 0.9
    """Of ``sgd``."""
    clip: float = 5.0
    """The longest gradient."""
    batch: int = 128
    """Positions in a step."""
    unroll: int = 4
    """Steps of the dynamics from each."""

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise ValueError(
                f"optimiser {self.optimiser!r}: expected one of {', '.join(OPTIMISERS)}"
            )
        for name in ("rate", "warm_up", "decay", "weight_decay", "unroll", "clip"):
            require_within(name, getattr(self, name), 0)
        for name in ("least", "momentum"):
            require_within(name, getattr(self, name), 0, 1)
        require_within("batch", self.batch, 1)

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, from 0 on.

        >>> config = LearnerConfig(rate=1.0, warm_up=2, decay=10, least=0.5)
        >>> [config.rate_at(x) for x in (0, 1, 2, 7, 12, 100)]
        [0.5, 1.0, 1.0, 0.75, 0.5, 0.5]
        """
        if step < self.warm_up:
            return self.rate * (step + 1) / self.warm_up
        done = min(1.0, (step - self.warm_up) / max(1, self.decay))
        falling = (1 + math.cos(math.pi * done)) / 2
        return self.rate * (self.least + (1 - self.least) * falling)


class Losses(NamedTuple):
    """What a step has met."""

    total: float
    policy: float
    value: float
    reward: float
    gradient: float
    """The length of the gradient."""


class Learner:
    """Trains a network."""

    def __init__(
        self, network: Network, config: LearnerConfig, loss: LossConfig
    ) -> None:
        """Prepare.

        Args:
            network: Is changed by each step, on the device that it is on.
            config: How.
            loss: What the parts of the loss weigh.
        """
        self.network = network
        self._config, self._loss = config, loss
        self._optimiser = _optimiser(network, config)

    def step(self, batch: Batch, number: int) -> tuple[Losses, Floats]:
        """Take one step.

        A gradient that is not finite changes nothing.

        Args:
            batch: What to learn.
            number: Of the step, from 0 on; decides the learning rate.

        Returns:
            The losses; and (B,) how far off the values of the positions were.
        """
        for group in self._optimiser.param_groups:
            group["lr"] = self._config.rate_at(number)
        seen, targets = _tensors(batch, self.network.device)
        loss = unrolled_loss(self.network, seen, targets, self._loss)
        self._optimiser.zero_grad(set_to_none=True)
        loss.total.backward()  # type: ignore[no-untyped-call]
        longest = self._config.clip or math.inf
        length = nn.utils.clip_grad_norm_(self.network.parameters(), longest)
        if torch.isfinite(length):
            self._optimiser.step()
        parts = loss.total, loss.policy, loss.value, loss.reward, length
        errors: Floats = loss.value_errors.detach().double().cpu().numpy()
        return Losses(*(float(x.detach()) for x in parts)), errors

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes: the weights, and what the optimiser remembers."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from where another learner was."""
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(deepcopy(state["optimiser"]))


def _optimiser(network: Network, config: LearnerConfig) -> torch.optim.Optimizer:
    if config.optimiser == "sgd":
        return torch.optim.SGD(
            network.parameters(),
            lr=config.rate,
            momentum=config.momentum,
            weight_decay=config.weight_decay,
        )
    return torch.optim.AdamW(
        network.parameters(), lr=config.rate, weight_decay=config.weight_decay
    )


def _tensors(batch: Batch, device: torch.device) -> tuple[Seen, Targets]:
    """A batch on a device.

    In memory of torch's own, which is aligned alike each time: so the same numbers
    have the same sums.
    """
    seen = Seen(*(_tensor(x, device).float() for x in batch.observations))
    targets = Targets(
        actions=_tensor(batch.actions, device),
        policies=_tensor(batch.policies, device),
        masks=_tensor(batch.masks, device),
        votes=_tensor(batch.votes, device),
        values=_tensor(batch.values, device),
        rewards=_tensor(batch.rewards, device),
        weights=_tensor(batch.weights, device),
    )
    return seen, targets


def _tensor(array: Any, device: torch.device) -> Tensor:
    return torch.from_numpy(array).clone().to(device)
