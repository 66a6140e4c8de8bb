"""The replay buffer: what it keeps, draws, and says is to be learned."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from training_cases import made

from hybridalloc.agents.muzero.replay import Batch, Replay, ReplayConfig
from hybridalloc.agents.muzero.stored import Stored, value_targets

PLAIN = ReplayConfig(
    sharpness=0.0, correction=0.0, balance=1.0, imitated=0.0, bootstrap=0
)


def filled(config: ReplayConfig, *games: list[float], unroll: int = 2) -> Replay:
    """A buffer of games with these rewards, each of a program of its own."""
    replay = Replay(config, unroll)
    for key, rewards in enumerate(games):
        replay.add(key, 0, made(rewards, entry=key))
    return replay


def drawn(replay: Replay, count: int = 64, seed: int = 0) -> Batch:
    return replay.sample(count, np.random.default_rng(seed))


def row(batch: Batch, position: int) -> int:
    """Where a batch has that position of the only game."""
    return [x for _, x in batch.places].index(position)


def test_an_example_has_the_steps_and_returns_of_its_game() -> None:
    batch = drawn(filled(PLAIN, [1.0, 2.0, 4.0, 8.0]))
    at = row(batch, 1)
    assert batch.actions[at].tolist() == [1, 2]
    assert batch.rewards[at].tolist() == [2, 4]
    assert batch.values[at].tolist() == [14, 12, 8]
    assert batch.masks[at].all()
    assert batch.policies[at].tolist() == [[0.5, 0.25, 0.25]] * 3
    assert batch.observations.summary[at].tolist() == [1]


def test_after_the_end_nothing_is_earned_and_nothing_is_legal() -> None:
    batch = drawn(filled(PLAIN, [1.0, 2.0, 4.0, 8.0]))
    at = row(batch, 3)
    assert batch.rewards[at].tolist() == [8, 0]
    assert batch.values[at].tolist() == [8, 0, 0]
    assert batch.masks[at].tolist() == [[True] * 3, [False] * 3, [False] * 3]
    assert batch.policies[at, 1:] == pytest.approx(np.full((2, 3), 1 / 3))
    assert batch.actions[at, 0] == 0
    assert set(batch.actions[:, 1].tolist()) <= {0, 1, 2}


def test_actions_after_the_end_are_any() -> None:
    batch = drawn(filled(PLAIN, [1.0]))
    assert set(batch.actions[:, 1].tolist()) == {0, 1, 2}


def test_a_value_target_trusts_the_search_after_so_many_steps() -> None:
    game = made([1.0, 2.0, 4.0, 8.0], values=[0.1, 0.2, 0.3, 0.4])
    assert value_targets(game, 0).tolist() == [15, 14, 12, 8]
    assert value_targets(game, 2) == pytest.approx([3.3, 6.4, 12, 8])
    assert value_targets(game, 9).tolist() == [15, 14, 12, 8]


def test_what_is_imitated_has_its_actions_and_its_return_as_targets() -> None:
    stored = Stored(0, 0, made([1.0, 2.0], values=[9.0, 9.0]), np.ones(2))
    copied = stored.examples(1, 1, smoothing=0.0)
    assert copied.policies[:2].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert copied.values.tolist() == [3, 2, 0]
    searched = stored.examples(1, 1, smoothing=None)
    assert searched.values.tolist() == [10, 2, 0]
    assert searched.policies[0].tolist() == [0.5, 0.25, 0.25]


def test_a_share_of_what_is_imitated_all_legal_actions_have_alike() -> None:
    game = made([1.0, 2.0])
    game.masks[1, 0] = False
    policies = Stored(0, 0, game, np.ones(2)).examples(1, 1, smoothing=0.3).policies
    assert policies[0] == pytest.approx([0.8, 0.1, 0.1])
    assert policies[1] == pytest.approx([0, 0.85, 0.15])


def test_longer_games_are_drawn_more_often_by_their_balance() -> None:
    for balance, ratio in ((0.0, 1.0), (0.5, 2.0), (1.0, 4.0)):
        config = ReplayConfig(sharpness=0.0, balance=balance, imitated=0.0)
        batch = drawn(filled(config, [1.0] * 8, [1.0] * 2), 8000)
        counts = Counter(key for key, _ in batch.places)
        assert counts[0] / counts[1] == pytest.approx(ratio, rel=0.1)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 4))
def test_every_field_of_a_batch_has_its_shape(lengths: list[int], unroll: int) -> None:
    games = [[1.0] * x for x in lengths]
    batch = drawn(filled(ReplayConfig(), *games, unroll=unroll), 7)
    steps = unroll
    assert batch.actions.shape == batch.rewards.shape == (7, steps)
    assert batch.policies.shape == batch.masks.shape == (7, steps + 1, 3)
    assert batch.values.shape == (7, steps + 1)
    assert batch.weights.shape == (7,)
    assert batch.weights.max() == 1
    assert len(batch.places) == 7


def test_all_positions_are_as_likely_where_errors_do_not_count() -> None:
    batch = drawn(filled(PLAIN, [1.0] * 3, [1.0]), 8000)
    counts = Counter(batch.places)
    assert len(counts) == 4
    assert all(abs(x - 2000) < 200 for x in counts.values())
    assert (batch.weights == 1).all()


def test_what_was_judged_wrongly_is_drawn_more_often_and_weighs_less() -> None:
    replay = filled(
        ReplayConfig(sharpness=1.0, correction=1.0, imitated=0.0), [1.0] * 2
    )
    batch = drawn(replay)
    errors = np.array([0.3 if x == 1 else 0.1 for _, x in batch.places]) - 0.001
    replay.update(batch, errors)
    batch = drawn(replay, 8000)
    counts = Counter(x for _, x in batch.places)
    assert counts[1] / counts[0] == pytest.approx(3, rel=0.1)
    weights = {x: batch.weights[row(batch, x)] for x in (0, 1)}
    assert weights[1] / weights[0] == pytest.approx(1 / 3)


def test_errors_that_are_not_known_change_nothing() -> None:
    replay = filled(PLAIN, [1.0] * 3)
    batch = drawn(replay, 8)
    replay.update(batch, np.full(8, np.nan))
    assert np.isfinite(next(iter(replay)).sums).all()


def test_the_oldest_games_make_room_for_new_ones() -> None:
    replay = Replay(ReplayConfig(decisions=4), 1)
    for key in range(5):
        replay.add(key, 0, made([1.0 - key / 10, 0.0]))
    assert [x.key for x in replay] == [0, 4]
    assert len(replay) == 4


def test_the_best_game_of_each_program_stays() -> None:
    replay = Replay(ReplayConfig(decisions=3), 1)
    replay.add(0, 0, made([0.1]))
    for key, reward in enumerate((0.5, 0.9, 0.2, 0.3), start=1):
        replay.add(key, 0, made([reward], entry=0))
    replay.add(5, 0, made([0.1], entry=1))
    assert [x.key for x in replay] == [2, 4, 5]
    assert replay.best_return(0) == pytest.approx(0.9)
    assert replay.best_return(1) == pytest.approx(0.1)
    assert replay.best_return(2) == -np.inf


def test_a_share_of_each_batch_imitates_the_best() -> None:
    replay = Replay(ReplayConfig(imitated=0.25, bootstrap=0), 1)
    for key, reward in enumerate((0.1, 0.9, 0.2)):
        replay.add(key, 0, made([reward, 0.0]))
    batch = drawn(replay, 40)
    assert [key for key, _ in batch.places[30:]] == [1] * 10
    assert batch.policies[30:, 0].max(axis=1) == pytest.approx([0.98] * 10)
    assert batch.policies[:30, 0].max(axis=1).tolist() == [0.5] * 30


def test_the_games_searched_longest_ago_are_the_stalest() -> None:
    replay = Replay(PLAIN, 1)
    replay.add(0, 0, made([1.0], is_demonstration=True))
    for key, version in ((1, 3), (2, 1), (3, 2)):
        replay.add(key, version, made([0.5]))
    assert [x.key for x in replay.stalest(2)] == [2, 3]
    replay.renew(2, 4, made([0.5], values=[0.7]))
    assert [x.key for x in replay.stalest(2)] == [3, 1]


def test_a_buffer_that_is_restored_draws_the_same() -> None:
    config = ReplayConfig(decisions=9)
    replay = filled(config, [0.1] * 3, [0.2] * 3, [0.3] * 3)
    for seed in range(3):
        batch = drawn(replay, seed=seed)
        replay.update(batch, np.random.default_rng(seed).random(64))
    other = Replay(config, 2)
    rows = [(x.key, x.version, x.trajectory, x.priorities.copy()) for x in replay]
    other.restore(rows)
    one, two = drawn(replay), drawn(other)
    assert one.places == two.places
    assert (one.weights == two.weights).all()
    for buffer in (replay, other):
        buffer.add(9, 0, made([0.25] * 3))
    assert drawn(replay).places == drawn(other).places
