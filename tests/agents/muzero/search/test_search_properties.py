"""What holds of every search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_model import Table, TableModel, random_table, searched

from hybridalloc.agents.muzero.model import Evaluation
from hybridalloc.agents.muzero.search import SearchConfig, SearchResult, search
from hybridalloc.arrays import Floats


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, list[int]]:
    """A random table, and the states that some games begin in."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = random_table(rng, draw(st.integers(1, 12)), draw(st.integers(1, 4)))
    begins = np.flatnonzero(table.masks.any(axis=1)).tolist()
    return table, draw(st.lists(st.sampled_from(begins), min_size=1, max_size=4))


configs = st.builds(
    SearchConfig,
    simulations=st.integers(1, 24),
    considered_actions=st.integers(1, 5),
    c_visit=st.sampled_from([0.0, 1.0, 50.0]),
    c_scale=st.sampled_from([0.0, 0.1, 1.0]),
)
seeds = st.integers(0, 2**32 - 1)


def run(
    table: Table, starts: list[int], config: SearchConfig, seed: int
) -> SearchResult:
    """Search with the noise of this seed."""
    model = TableModel(table)
    roots = model.start(starts, config.simulations)
    return search(model, roots, config, noise_of(roots, np.random.default_rng(seed)))


def noise_of(roots: Evaluation, rng: np.random.Generator) -> Floats:
    """Some for each root."""
    noise: Floats = rng.gumbel(size=roots.logits.shape)
    return noise


def assert_identical(one: SearchResult, other: SearchResult) -> None:
    """Every number is the same, to the last bit."""
    for name, array in one._asdict().items():
        np.testing.assert_array_equal(array, other._asdict()[name], err_msg=name)


@given(tables(), configs, seeds)
def test_illegal_actions_are_never_taken(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    found = run(table, starts, config, seed)  # the model refuses illegal steps
    legal = table.masks[starts]
    assert legal[np.arange(len(starts)), found.action].all()
    assert (found.visits[~legal] == 0).all()


@given(tables(), configs, seeds)
def test_the_improved_policy_is_a_distribution_on_legal_actions(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    policy = run(table, starts, config, seed).policy
    assert policy.sum(axis=1) == pytest.approx(np.ones(len(starts)))
    assert (policy >= 0).all()
    assert (policy[~table.masks[starts]] == 0).all()


@given(tables(), configs, seeds)
def test_visits_add_up_and_the_value_is_the_mean_of_what_they_returned(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    found = run(table, starts, config, seed)
    assert found.visits.sum(axis=1).tolist() == [config.simulations] * len(starts)
    total = table.values[starts] + (found.visits * found.q).sum(axis=1)
    assert found.value == pytest.approx(total / (config.simulations + 1))


@given(tables(), configs, seeds)
def test_no_more_actions_are_tried_than_are_considered(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    tried = np.count_nonzero(run(table, starts, config, seed).visits, axis=1)
    legal = np.count_nonzero(table.masks[starts], axis=1)
    most = np.minimum(config.considered_actions, legal)
    assert tried.tolist() == np.minimum(most, config.simulations).tolist()


@given(tables(), configs, seeds)
def test_the_same_generator_gives_the_same_answer(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    assert_identical(run(table, starts, config, seed), run(table, starts, config, seed))


@given(tables(), configs, seeds)
def test_a_batch_gives_the_answers_of_its_games_one_by_one(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    rng, model = np.random.default_rng(seed), TableModel(table)
    alone = []
    for start in starts:
        roots = model.start([start], config.simulations)
        alone.append(search(model, roots, config, noise_of(roots, rng)))
    joined = SearchResult(*map(np.concatenate, zip(*alone, strict=True)))
    assert_identical(run(table, starts, config, seed), joined)


@given(tables(), configs, seeds)
def test_the_unit_of_rewards_does_not_matter(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    scaled = replace(table, rewards=table.rewards * 4, values=table.values * 4)
    wider = replace(config, narrowest=4 * config.narrowest)
    one = run(table, starts, config, seed)
    other = run(scaled, starts, wider, seed)
    np.testing.assert_array_equal(one.policy, other.policy)
    np.testing.assert_array_equal(one.visits, other.visits)
    np.testing.assert_array_equal(one.q * 4, other.q)


@given(tables(), configs, seeds)
def test_what_a_model_says_of_illegal_actions_does_not_matter(
    drawn: tuple[Table, list[int]], config: SearchConfig, seed: int
) -> None:
    table, starts = drawn
    wild = np.where(table.masks, table.logits, np.nan)
    found = run(replace(table, logits=wild), starts, config, seed)
    assert_identical(found, run(table, starts, config, seed))


@given(tables(), configs)
def test_numbers_may_be_short(
    drawn: tuple[Table, list[int]], config: SearchConfig
) -> None:
    table, starts = drawn
    names = ("rewards", "logits", "values")
    short = {name: vars(table)[name].astype(np.float32) for name in names}
    long = {name: array.astype(np.float64) for name, array in short.items()}
    one, other = (run(replace(table, **x), starts, config, 0) for x in (short, long))
    assert_identical(one, other)


def chain(length: int, actions: int, legal: int) -> Table:
    """States in a row, each with one legal action, worth 1; values are 0."""
    masks = np.zeros((length + 1, actions), np.bool_)
    masks[:length, legal] = True
    after = np.minimum(np.arange(length + 1) + 1, length)
    return Table(
        successors=np.repeat(after[:, None], actions, axis=1),
        rewards=np.ones((length + 1, actions)),
        logits=np.zeros((length + 1, actions)),
        values=np.zeros(length + 1),
        masks=masks,
    )


@pytest.mark.parametrize("length", [1, 3, 20])
def test_a_chain_of_single_legal_actions_is_followed_to_its_end(length: int) -> None:
    model, config = TableModel(chain(length, actions=3, legal=1)), SearchConfig(8)
    found = searched(model, [0], config)
    deep = min(length, 8)
    assert model.steps == [(0, node, 1, node + 1) for node in range(deep)]
    assert found.action.tolist() == [1]
    assert found.policy.tolist() == [[0, 1, 0]]
    assert found.visits.tolist() == [[0, 8, 0]]
    returned = sum(min(x, deep) for x in range(1, 9))
    assert found.q[0, 1] == pytest.approx(returned / 8)


def test_games_of_a_batch_may_end_at_different_times() -> None:
    model = TableModel(chain(5, actions=2, legal=0))
    found = searched(model, [4, 0, 3], SearchConfig(4))
    assert found.q[:, 0].tolist() == [1, (1 + 2 + 3 + 4) / 4, (1 + 2 + 2 + 2) / 4]
    asked = [game for game, *_ in model.steps]
    assert [asked.count(game) for game in range(3)] == [1, 4, 2]


def test_a_batch_may_be_empty() -> None:
    found = searched(TableModel(chain(1, actions=3, legal=0)), [], SearchConfig(2))
    assert found.policy.shape == (0, 3)


def lure() -> Table:
    """A binary tree of 4 levels: what pays at first leads away from the best end."""
    nodes, inner = 31, 15
    rewards = np.zeros((nodes, 2))
    rewards[0], rewards[inner - 1] = (0.3, 0.0), (0.0, 1.0)
    masks = np.zeros((nodes, 2), np.bool_)
    masks[:inner] = True
    after = np.minimum(2 * np.arange(nodes)[:, None] + (1, 2), nodes - 1)
    return Table(after, rewards, np.zeros((nodes, 2)), np.zeros(nodes), masks)


def test_the_search_sees_past_a_lure() -> None:
    assert searched(TableModel(lure()), [0], SearchConfig(2)).action.tolist() == [0]
    found = searched(TableModel(lure()), [0], SearchConfig(64))
    assert found.action.tolist() == [1]
    assert found.policy[0, 1] > 0.99


def test_noise_draws_actions_as_the_policy_has_them() -> None:
    chances: Floats = np.array([0.6, 0.3, 0.1])
    table = Table(
        successors=np.ones((2, 3), np.int64),
        rewards=np.zeros((2, 3)),
        logits=np.log([chances, chances]),
        values=np.zeros(2),
        masks=np.array([[True] * 3, [False] * 3]),
    )
    config = SearchConfig(simulations=1, considered_actions=1)
    taken = run(table, [0] * 4000, config, seed=0).action
    shares = np.bincount(taken, minlength=3) / taken.size
    assert shares == pytest.approx(chances, abs=0.03)  # four standard deviations
