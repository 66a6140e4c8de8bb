"""What the search plans with: the learned model, and the game itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from muzero_cases import COARSE, CPU, games, network, on_the_way, positions

from hybridalloc.agents.muzero.model import Evaluation, Model
from hybridalloc.agents.muzero.models import GameModel, LearnedModel
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.arrays import Ints
from hybridalloc.game.fast import Position

CLOSE = 1e-4
"""How far off the same may be, computed in another batch."""
SCALES_S = dict(zip(games(), (2.0, 5.0), strict=True))


def game_model() -> GameModel:
    """The game itself."""
    return GameModel(network(), Observing(COARSE), SCALES_S)


def begin(model: Model, roots: list[Position], simulations: int = 8) -> Evaluation:
    """Evaluate roots."""
    return model.begin(roots, Observing(COARSE).observe(roots), simulations)


def ints(*values: int) -> Ints:
    """An array."""
    return np.array(values, dtype=np.int64)


def agree(evaluation: Evaluation, found: Sequence[Position]) -> None:
    """It is the network's of these positions; the value of an end is 0."""
    observed, made = Observing(COARSE).observe(found), network()
    with torch.inference_mode():
        policy, _, value = made.predict(made.represent(Seen.of(observed, CPU)))
        values = made.values.decode(value).numpy()
    ends = np.array([x.is_terminal for x in found])
    assert np.allclose(evaluation.logits, policy.numpy(), atol=CLOSE)
    assert np.allclose(evaluation.values, np.where(ends, 0, values), atol=CLOSE)
    assert np.array_equal(evaluation.masks, [x.mask() for x in found])


@pytest.mark.parametrize("model", [LearnedModel(network()), game_model()])
def test_roots_are_evaluated_by_representation_and_prediction(model: Model) -> None:
    roots = on_the_way(positions(0, 9))
    evaluation = begin(model, roots)
    agree(evaluation, roots)
    assert evaluation.values.dtype == evaluation.logits.dtype == np.float64


def going_on(tree: Sequence[Position]) -> list[int]:
    """The nodes that are no ends."""
    return [n for n, x in enumerate(tree) if not x.is_terminal]


@settings(max_examples=20)
@given(st.integers(0, 999))
def test_a_tree_in_the_game_is_the_game_itself(seed: int) -> None:
    """Random trees over several games, against positions that are played by hand."""
    random, model = np.random.default_rng(seed), game_model()
    for roots in (on_the_way(positions(seed, 5)), on_the_way(positions(seed + 1, 3))):
        begin(model, roots)
        trees = [[x.copy()] for x in roots]
        for _ in range(6):
            parents = [int(random.choice(going_on(tree))) for tree in trees]
            before = [tree[n] for tree, n in zip(trees, parents, strict=True)]
            actions = [int(random.choice(np.flatnonzero(x.mask()))) for x in before]
            after = [x.copy() for x in before]
            rewards = [
                x.apply(action) / SCALES_S[x.game]
                for x, action in zip(after, actions, strict=True)
            ]
            nodes = ints(*map(len, trees))
            every = np.arange(len(trees))
            found = model.expand(every, ints(*parents), ints(*actions), nodes)
            assert found.rewards.tolist() == rewards
            assert found.terminal.tolist() == [x.is_terminal for x in after]
            agree(found.evaluation, after)
            for tree, position in zip(trees, after, strict=True):
                tree.append(position)


def test_the_game_model_plays_on_copies() -> None:
    roots, model = on_the_way(positions(3, 8)), game_model()
    before = [(x.step, x.time_s, x.taken) for x in roots]
    for _ in range(2):
        begin(model, roots)
        actions = ints(*(int(np.flatnonzero(x.mask())[0]) for x in roots))
        every = np.arange(len(roots))
        found = model.expand(every, 0 * every, actions, 1 + 0 * every)
        assert [(x.step, x.time_s, x.taken) for x in roots] == before
    assert (found.evaluation.values != 0).any()


def test_the_game_model_refuses_what_is_not_legal() -> None:
    root = games()[0].begin()
    model, illegal = game_model(), int(np.flatnonzero(~root.mask())[0])
    begin(model, [root])
    with pytest.raises(ValueError, match="is not legal"):
        model.expand(ints(0), ints(0), ints(illegal), ints(1))


def test_the_learned_model_imagines_each_game_by_itself() -> None:
    """The same steps in a batch, and in batches of one, lead to the same."""
    roots, made = positions(4, 6), network()
    together, random = LearnedModel(made), np.random.default_rng(0)
    begin(together, roots)
    alone = [LearnedModel(made) for _ in roots]
    for model, root in zip(alone, roots, strict=True):
        begin(model, [root])
    nodes = [[0] for _ in roots]
    for node in range(1, 9):
        some = np.flatnonzero(random.random(len(roots)) < 0.9)
        parents = ints(*(random.choice(nodes[game]) for game in some))
        actions = random.integers(0, 3, len(some))
        batch = together.expand(some, parents, actions, np.full(len(some), node))
        for k, game in enumerate(some.tolist()):
            nodes[game].append(node)
            at = (ints(0), parents[k : k + 1], actions[k : k + 1], ints(node))
            one = alone[game].expand(*at)
            assert one.rewards[0] == pytest.approx(batch.rewards[k], abs=CLOSE)
            for x, y in zip(one.evaluation, batch.evaluation, strict=True):
                assert x[0] == pytest.approx(y[k], abs=CLOSE)
