"""Which actions a simulation takes on its way down the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybridalloc.agents.muzero.search.improving import Scale, improved_logits, softmax
from hybridalloc.agents.muzero.search.tree import NO_NODE, ROOT, Node, Tree, node_of
from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled


class Leaves(NamedTuple):
    """Where a simulation of each of B games ends."""

    parents: Ints
    """(B,): the last node but one."""
    actions: Ints
    """(B,): the last action."""
    nodes: Ints
    """(B,): the last node: a new one, or a terminal one that is known."""


@compiled
def best_at_root(node: Node, scale: Scale, noise: Floats, visits: int) -> int:
    """The legal action with so many visits that noise and improved policy favour.

    Args:
        node: The root.
        scale: Of values.
        noise: (A,): the noise, the same in all simulations of a search.
        visits: That some legal action has.
    """
    best, highest = 0, -np.inf
    logits = improved_logits(node, scale)
    for action in range(logits.size):
        score = noise[action] + logits[action]
        if score > highest and node.visits[action] == visits:
            best, highest = action, score
    return best


@compiled
def most_wanted(node: Node, scale: Scale) -> int:
    """The legal action most short of the visits that the improved policy grants it.

    Without chance (Danihelka et al., section 5, equation 14): after many visits, the
    share of each action is its chance.
    """
    best, highest = 0, -np.inf
    chances, visits = softmax(improved_logits(node, scale)), node.visits.sum()
    for action in range(chances.size):
        short = chances[action] - node.visits[action] / (visits + 1)
        if short > highest and node.logits[action] > -np.inf:
            best, highest = action, short
    return best


@compiled
def _descend(
    tree: Tree, scale: Scale, noise: Floats, turns: Ints, new: int, leaves: Leaves
) -> None:
    """As ``descend``, which has room for the leaves."""
    for game in range(turns.size):
        node = ROOT
        root = node_of(tree, game, node)
        action = best_at_root(root, scale, noise[game], turns[game])
        child = tree.children[game, node, action]
        while child != NO_NODE and not tree.terminal[game, child]:
            node = child
            action = most_wanted(node_of(tree, game, node), scale)
            child = tree.children[game, node, action]
        leaves.parents[game], leaves.actions[game] = node, action
        leaves.nodes[game] = new if child == NO_NODE else child


def descend(tree: Tree, scale: Scale, noise: Floats, turns: Ints, new: int) -> Leaves:
    """Walk from each root to an action that was never taken, or to a terminal node.

    Args:
        tree: Of B games.
        scale: Of values.
        noise: (B, A): the noise at the roots.
        turns: (B,): how often the action to take at the root was taken before.
        new: The number of the new nodes.
    """
    leaves = Leaves(*np.empty((3, turns.size), np.int64))
    _descend(tree, scale, noise, turns, new, leaves)
    return leaves
