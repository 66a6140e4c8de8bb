"""The policy that a node's visits make of the model's (Danihelka et al., section 4)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybridalloc.agents.muzero.search.tree import Node
from hybridalloc.arrays import Floats
from hybridalloc.jit import compiled

LEAST_CHANCE = 2.0**-1022
"""Of an action that was taken; so that there is a mean of what was taken."""


class Scale(NamedTuple):
    """Weighs values against logits: the paper's sigma, equation 8."""

    c_visit: float
    c_scale: float
    narrowest: float
    """Values that are closer together than that are not spread over all of [0, 1]."""


@compiled
def softmax(logits: Floats) -> Floats:
    """(A,): the chances that belong to logits, (A,)."""
    most, total = logits.max(), 0.0
    chances = np.empty(logits.size)
    for action in range(logits.size):
        chances[action] = math.exp(logits[action] - most)
        total += chances[action]
    for action in range(logits.size):
        chances[action] /= total
    return chances


@compiled
def mixed_value(node: Node) -> float:
    """The return to come at a node, from the model and the actions taken (appendix D).

    One part is the model's, and each visit adds one of the mean of the actions taken,
    as the policy weighs them.
    """
    chances, visits, chance, total = softmax(node.logits), 0, 0.0, 0.0
    for action in range(chances.size):
        if node.visits[action] > 0:
            weight = max(chances[action], LEAST_CHANCE)
            visits += node.visits[action]
            chance += weight
            total += weight * node.returns[action]
    if visits == 0:
        return node.raw_value
    return (node.raw_value + visits * total / chance) / (visits + 1)


@compiled
def completed_q(node: Node) -> Floats:
    """(A,): the return to come by each action (equation 10).

    For an action that was never taken, legal or not, it is the mixed value of the node.
    """
    q = node.returns.copy()
    mixed = mixed_value(node)
    for action in range(q.size):
        if node.visits[action] == 0:
            q[action] = mixed
    return q


@compiled
def improved_logits(node: Node, scale: Scale) -> Floats:
    """(A,): logits of the improved policy (equation 11).

    Values are spread over [0, 1] before, as in mctx: the least of the node is 0 and the
    greatest 1; but not those that are all within ``narrowest``, or the noise of a value
    that is learned would decide against a policy that is sure.
    """
    improved = completed_q(node)
    least, most = improved.min(), improved.max()
    spread = max(most - least, scale.narrowest)
    weight = (scale.c_visit + node.visits.max()) * scale.c_scale
    for action in range(improved.size):
        value = (improved[action] - least) / spread
        improved[action] = node.logits[action] + weight * value
    return improved
