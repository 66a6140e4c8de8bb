"""The search: simulations that descend, expand and back up, and what comes of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.agents.muzero.model import Evaluation, Model
from hybridalloc.agents.muzero.search.checking import checked, checked_expansion
from hybridalloc.agents.muzero.search.config import SearchConfig
from hybridalloc.agents.muzero.search.halving import turns_of
from hybridalloc.agents.muzero.search.improving import (
    Scale,
    completed_q,
    improved_logits,
    softmax,
)
from hybridalloc.agents.muzero.search.selecting import Leaves, best_at_root, descend
from hybridalloc.agents.muzero.search.tree import (
    ROOT,
    Tree,
    attach,
    back_up,
    node_of,
    planted,
)
from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled


class SearchResult(NamedTuple):
    """What the search makes of the roots of B games."""

    action: Ints
    """(B,): the action to take: of those visited most, the one that noise and improved
    policy favour."""
    policy: Floats
    """(B, A): the improved policy, what the model's policy may learn from; illegal
    actions have 0."""
    value: Floats
    """(B,): the mean return to come of all simulations and the model's value."""
    visits: Ints
    """(B, A): how often each action was taken; adds up to the simulations."""
    q: Floats
    """(B, A): the return to come by each action; the mixed value of the root for those
    that were never taken."""


def search(
    model: Model, roots: Evaluation, config: SearchConfig, noise: Floats
) -> SearchResult:
    """Search from the roots of B games at the same time.

    A batch gives the same answers as its games one after the other would, as far as
    the model does.

    Args:
        model: Has begun these games, with at least as many simulations.
        roots: What it then said of them.
        config: The parameters.
        noise: (B, A): is added to the logits of the roots where they decide what is
            tried and taken: Gumbel's draws actions as the policy has them.

    Raises:
        ValueError: A root has no legal action, the noise is of another shape than the
            logits, or the model says something that is not of the right shape or not
            finite.
    """
    roots = checked(roots, roots.logits.shape, "root")
    tree = planted(roots, config.simulations)
    if noise.shape != roots.logits.shape:
        raise ValueError(
            f"search: noise {noise.shape} is not of shape {roots.logits.shape}"
        )
    scale = Scale(config.c_visit, config.c_scale, config.narrowest)
    legal = np.count_nonzero(roots.masks, axis=1)
    turns = turns_of(legal, config.considered_actions, config.simulations)
    for node, turn in enumerate(turns, start=1):
        leaves = descend(tree, scale, noise, turn, node)
        _expand(model, tree, leaves, node)
        back_up(tree, leaves.nodes)
    return _result(tree, scale, noise)


def _expand(model: Model, tree: Tree, leaves: Leaves, new: int) -> None:
    """Have the model take the steps to the leaves that are new."""
    games = np.flatnonzero(leaves.nodes == new)
    if games.size == 0:
        return
    steps = games, leaves.parents[games], leaves.actions[games], leaves.nodes[games]
    shape = games.size, tree.logits.shape[2]
    attach(tree, *steps, checked_expansion(model.expand(*steps), shape))


def _result(tree: Tree, scale: Scale, noise: Floats) -> SearchResult:
    """What the trees say of their roots."""
    result = SearchResult(
        action=np.empty(len(noise), np.int64),
        policy=np.empty(noise.shape),
        value=tree.values[:, ROOT].copy(),
        visits=np.empty(noise.shape, np.int64),
        q=np.empty(noise.shape),
    )
    _sum_up(tree, scale, noise, result)
    return result


@compiled
def _sum_up(tree: Tree, scale: Scale, noise: Floats, result: SearchResult) -> None:
    """Fill all of a result but its values."""
    games, actions = noise.shape
    for game in range(games):
        root = node_of(tree, game, ROOT)
        q, policy = completed_q(root), softmax(improved_logits(root, scale))
        for action in range(actions):
            result.visits[game, action] = root.visits[action]
            result.policy[game, action] = policy[action]
            result.q[game, action] = q[action]
        most = root.visits.max()
        result.action[game] = best_at_root(root, scale, noise[game], most)
