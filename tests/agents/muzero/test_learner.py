"""The learner."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from muzero_cases import network
from training_cases import random_game

from hybridalloc.agents.muzero.learner import Learner, LearnerConfig
from hybridalloc.agents.muzero.loss import LossConfig
from hybridalloc.agents.muzero.replay import Batch, Replay, ReplayConfig


def learner(config: LearnerConfig | None = None) -> Learner:
    return Learner(network(), config or LearnerConfig(rate=1e-2), LossConfig())


@pytest.fixture(scope="module")
def batch() -> Batch:
    replay = Replay(ReplayConfig(), 2)
    for seed in range(4):
        replay.add(seed, 0, random_game(seed % 2, seed))
    return replay.sample(16, np.random.default_rng(0))


def numbers(found: Learner) -> torch.Tensor:
    return torch.cat([x.detach().flatten() for x in found.network.parameters()])


def test_steps_on_one_batch_make_its_loss_small(batch: Batch) -> None:
    found = learner()
    losses = [found.step(batch, 100 + i)[0].total for i in range(80)]
    assert losses[-1] < losses[0] / 2


def test_a_step_tells_how_far_off_each_value_was(batch: Batch) -> None:
    found = learner()
    _, before = found.step(batch, 100)
    for i in range(80):
        _, after = found.step(batch, 101 + i)
    assert before.shape == after.shape == (16,)
    assert after.mean() < before.mean()


def test_the_first_steps_are_small(batch: Batch) -> None:
    early, late = learner(), learner()
    start = numbers(learner())
    early.step(batch, 0)
    late.step(batch, 99)
    moved = [(numbers(x) - start).abs().max() for x in (early, late)]
    assert moved[0] < moved[1] / 50


def test_a_gradient_that_is_not_finite_changes_nothing(batch: Batch) -> None:
    found = learner()
    before = numbers(found).clone()
    found.step(batch._replace(values=np.full_like(batch.values, np.nan)), 100)
    assert torch.equal(numbers(found), before)


def test_a_learner_that_is_restored_takes_the_same_steps(batch: Batch) -> None:
    one, other = learner(), learner()
    for i in range(3):
        one.step(batch, i)
    other.restore(one.state())
    assert one.step(batch, 3)[0] == other.step(batch, 3)[0]
    assert torch.equal(numbers(one), numbers(other))


@pytest.mark.parametrize("wrong", [{"optimiser": "adam"}, {"batch": 0}, {"least": 2}])
def test_impossible_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LearnerConfig(**wrong)  # type: ignore[arg-type]
