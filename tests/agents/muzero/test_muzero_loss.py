"""What the network is trained for."""

from __future__ import annotations

import math

import pytest
import torch
from muzero_cases import TINY, drawn, network
from torch import Tensor

from hybridalloc.agents.muzero.loss import (
    Loss,
    LossConfig,
    Targets,
    unrolled_loss,
)
from hybridalloc.agents.muzero.network import Network


def targets(seed: int, count: int, steps: int) -> Targets:
    """Anything that is possible."""
    torch.manual_seed(seed)
    masks = torch.rand(count, steps + 1, 3) < 0.6
    masks[:, :, 2] = True
    policies = torch.rand(count, steps + 1, 3) * masks
    return Targets(
        actions=torch.randint(0, 3, (count, steps)),
        policies=policies / policies.sum(-1, keepdim=True),
        masks=masks,
        votes=torch.zeros(count, steps + 1, 3),
        values=torch.rand(count, steps + 1) * 2 - 1,
        rewards=torch.rand(count, steps) * 0.2 - 0.1,
        weights=torch.ones(count),
    )


def fresh() -> Network:
    """A network whose policies are uniform and whose values are 0."""
    torch.manual_seed(0)
    return Network(TINY)


def by_hand(network: Network, seed: int, wanted: Targets) -> Tensor:
    """The loss with default weights, one position after the other."""
    total = torch.zeros(len(wanted.weights))
    steps = wanted.actions.shape[1]
    state = network.represent(drawn(seed, len(wanted.weights)))
    for k in range(steps + 1):
        share = 1.0 if k == 0 else 1 / steps
        if k:
            state, reward = network.dynamics(state, wanted.actions[:, k - 1])
            number = network.rewards.encode(wanted.rewards[:, k - 1])
            total -= share * (number * reward.log_softmax(-1)).sum(-1)
        policy, _, value = network.predict(state)
        if k == 0:
            policy = policy.masked_fill(~wanted.masks[:, 0], -1e9)
        total -= share * (wanted.policies[:, k] * policy.log_softmax(-1)).sum(-1)
        number = network.values.encode(wanted.values[:, k])
        total -= share * 0.25 * (number * value.log_softmax(-1)).sum(-1)
    return total


def test_the_loss_is_that_of_each_position_and_step_by_hand() -> None:
    made, wanted = network(1), targets(2, 4, 3)
    wanted = wanted._replace(weights=torch.tensor([1.0, 0.5, 0.0, 2.0]))
    loss = unrolled_loss(made, drawn(7, 4), wanted)
    expected = (by_hand(made, 7, wanted) * wanted.weights).mean()
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)
    parts = loss.policy + 0.25 * loss.value + loss.reward
    assert float(parts) == pytest.approx(expected.item(), rel=1e-5)


def test_without_steps_only_the_position_itself_counts() -> None:
    made, wanted = network(1), targets(2, 4, 0)
    loss = unrolled_loss(made, drawn(7, 4), wanted)
    assert float(loss.reward) == 0
    expected = by_hand(made, 7, wanted).mean()
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_uniform_policy_is_one_over_the_actions_that_are_known_to_be_legal() -> None:
    """Of the first position these are two of three; after one step, all."""
    policies = torch.tensor([[[1.0, 0, 0], [0, 0, 1.0]]])
    masks = torch.tensor([[[True, False, True], [True, True, True]]])
    wanted = targets(0, 1, 1)._replace(policies=policies, masks=masks)
    loss = unrolled_loss(fresh(), drawn(0, 1), wanted)
    assert float(loss.policy) == pytest.approx(math.log(2) + math.log(3))


def test_after_the_end_no_policy_is_learned() -> None:
    wanted = targets(0, 2, 3)
    wanted.masks[:, 2:], wanted.policies[:, 2:] = False, 0.0
    wanted.masks[0, :2], wanted.masks[1, 0] = torch.tensor([True] * 3), True
    wanted.policies[0, :2] = torch.tensor([1.0, 0, 0])
    wanted.masks[1, 1], wanted.policies[1, :2] = False, torch.tensor([0.0, 1, 0])
    loss = unrolled_loss(fresh(), drawn(0, 2), wanted)
    expected = math.log(3) * (1 + 1 / 3) + math.log(3)
    assert float(loss.policy) == pytest.approx(expected / 2)


def test_a_whole_batch_after_the_end_can_be_learned_from() -> None:
    wanted = targets(0, 2, 2)
    wanted.masks[:], wanted.policies[:] = False, 0.0
    loss = unrolled_loss(network(), drawn(0, 2), wanted)
    loss.total.backward()  # type: ignore[no-untyped-call]
    assert float(loss.policy) == 0
    assert loss.total.isfinite()


def test_what_weighs_nothing_is_not_learned() -> None:
    made, wanted = network(), targets(1, 3, 2)
    unrolled_loss(
        made, drawn(1, 3), wanted._replace(weights=torch.zeros(3))
    ).total.backward()  # type: ignore[no-untyped-call]
    assert not any(x.grad.any() for x in made.parameters() if x.grad is not None)


def test_what_is_learned_from_later_steps_halves_at_each() -> None:
    """The gradient of the first state by the last reward, against that without it."""
    made, wanted = network(), targets(1, 1, 2)
    config = LossConfig(value=0.0)
    zero = torch.zeros_like(wanted.policies)
    gradients = []
    for halved in (True, False):
        state = made.represent(drawn(1, 1)).detach().requires_grad_()
        after = state
        for k in range(2):
            scaled = (after + after.detach()) / 2 if halved else after
            after, reward = made.dynamics(scaled, wanted.actions[:, k])
        gradients.append(torch.autograd.grad(reward.log_softmax(-1)[0, 0], state)[0])
    assert torch.allclose(gradients[0], gradients[1] / 4, atol=1e-6)
    loss = unrolled_loss(made, drawn(1, 1), wanted._replace(policies=zero), config)
    assert loss.total.item() == pytest.approx(float(loss.reward))


def test_the_errors_of_values_are_those_of_the_first_position() -> None:
    wanted = targets(3, 5, 2)
    errors = unrolled_loss(fresh(), drawn(3, 5), wanted).value_errors
    assert errors.tolist() == pytest.approx(wanted.values[:, 0].abs().tolist())
    assert not errors.requires_grad


def test_a_small_batch_can_be_learned_by_heart() -> None:
    """Values and rewards to the mark, the policy as far as its targets are certain."""
    made, seen, wanted = network(0), drawn(0, 8), targets(0, 8, 2)
    best = wanted.policies.argmax(-1)
    certain = torch.nn.functional.one_hot(best, 3).float()
    wanted = wanted._replace(policies=certain)
    optimiser = torch.optim.Adam(made.parameters(), lr=5e-3)
    for _ in range(150):
        loss: Loss = unrolled_loss(made, seen, wanted)
        optimiser.zero_grad()
        loss.total.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert float(loss.policy) < 0.1
    assert float(loss.value_errors.max()) < 0.1
    state = made.represent(seen)
    after, reward = made.dynamics(state, wanted.actions[:, 0])
    assert torch.equal(made.predict(after).policy_logits.argmax(-1), best[:, 1])
    assert torch.allclose(made.rewards.decode(reward), wanted.rewards[:, 0], atol=0.02)
