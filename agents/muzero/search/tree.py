"""Search trees of a batch of games, in arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.agents.muzero.model import Bools, Evaluation, Expansion
from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled

ROOT = 0
"""The node of the position to decide on."""
NO_NODE = -1
"""Instead of a child: the action has not been taken."""


class Tree(NamedTuple):
    """The trees of B games, of up to N nodes with A actions; one simulation, one node.

    The value of a node is the mean return to come of all simulations that were there.
    """

    parents: Ints
    """(B, N)."""
    children: Ints
    """(B, N, A): the node that each action leads to, or ``NO_NODE``."""
    rewards: Floats
    """(B, N): of the step to the node."""
    terminal: Bools
    """(B, N): nothing comes after the node."""
    logits: Floats
    """(B, N, A): of the policy; minus infinity for illegal actions."""
    raw_values: Floats
    """(B, N): the return to come, as the model has it."""
    values: Floats
    """(B, N)."""
    visits: Ints
    """(B, N): simulations that were there, and the first look at the root."""


class Node(NamedTuple):
    """What is known of a node that is no end."""

    logits: Floats
    """(A,): as in the tree."""
    raw_value: float
    """As in the tree."""
    visits: Ints
    """(A,): how often each action was taken."""
    returns: Floats
    """(A,): the mean return to come by each action that was taken; 0 for others."""


def planted(roots: Evaluation, simulations: int) -> Tree:
    """Trees of nothing but roots, with room for that many simulations."""
    games, actions = roots.logits.shape
    nodes = simulations + 1
    tree = Tree(
        parents=np.full((games, nodes), NO_NODE),
        children=np.full((games, nodes, actions), NO_NODE),
        rewards=np.zeros((games, nodes)),
        terminal=np.zeros((games, nodes), np.bool_),
        logits=np.full((games, nodes, actions), -np.inf),
        raw_values=np.zeros((games, nodes)),
        values=np.zeros((games, nodes)),
        visits=np.zeros((games, nodes), np.int64),
    )
    tree.logits[:, ROOT] = np.where(roots.masks, roots.logits, -np.inf)
    tree.raw_values[:, ROOT] = tree.values[:, ROOT] = roots.values
    tree.visits[:, ROOT] = 1
    return tree


def attach(
    tree: Tree,
    games: Ints,
    parents: Ints,
    actions: Ints,
    nodes: Ints,
    expansion: Expansion,
) -> None:
    """Add the nodes that a model has expanded, all arrays as in ``Model.expand``."""
    at, seen = (games, nodes), expansion.evaluation
    tree.parents[at] = parents
    tree.children[games, parents, actions] = nodes
    tree.rewards[at] = expansion.rewards
    tree.terminal[at] = expansion.terminal
    tree.logits[at] = np.where(seen.masks, seen.logits, -np.inf)
    tree.raw_values[at] = np.where(expansion.terminal, 0.0, seen.values)


@compiled
def back_up(tree: Tree, leaves: Ints) -> None:
    """Tell all nodes on the way to the leaf of each game, (B,), what came of it."""
    for game in range(leaves.size):
        node = leaves[game]
        to_come = tree.raw_values[game, node]
        while node != NO_NODE:
            visits = tree.visits[game, node]
            total = tree.values[game, node] * visits + to_come
            tree.values[game, node] = total / (visits + 1)
            tree.visits[game, node] = visits + 1
            to_come += tree.rewards[game, node]
            node = tree.parents[game, node]


@compiled
def node_of(tree: Tree, game: int, node: int) -> Node:
    """Look a node up."""
    actions = tree.children.shape[2]
    visits, returns = np.zeros(actions, np.int64), np.zeros(actions)
    for action in range(actions):
        child = tree.children[game, node, action]
        if child != NO_NODE:
            visits[action] = tree.visits[game, child]
            returns[action] = tree.rewards[game, child] + tree.values[game, child]
    raw_value = tree.raw_values[game, node]
    return Node(tree.logits[game, node], raw_value, visits, returns)
