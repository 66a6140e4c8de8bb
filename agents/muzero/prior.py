"""Priors: what heuristics would do, mixed into the policy at each node.

The policy that is played is ``(1 - w) p + w v``: p is the network's own, v the mean of
the heuristics' votes, and w, the *trust*, a further output of the network, or a number
that somebody has set. With w = 1 the heuristics play, with w = 0 the network alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, pad

from hybridalloc.agents.muzero.model import Bools
from hybridalloc.agents.muzero.observing import Singles
from hybridalloc.game import Action
from hybridalloc.game.action import INSTEAD
from hybridalloc.game.fast import FastGame

LEAST_LOGIT = -1e9
"""Of what is impossible: finite, so that none of it still counts as 0."""


def votes_at(games: Sequence[FastGame], steps: Sequence[int], masks: Bools) -> Singles:
    """(K, 3): the mean votes on an access of each game; 0 where there are none.

    Votes for what is not legal go to the others; where all do, to the first of
    ``INSTEAD`` that is legal.

    Args:
        games: (K,)
        steps: (K,): of the games; after the last one there are no votes.
        masks: (K, A): which actions are legal.
    """
    votes = np.zeros((len(games), len(Action)), np.float32)
    for row, game, step, mask in zip(votes, games, steps, masks, strict=True):
        mean = game.game.advice.mean
        if step == len(mean) or not mean[step].any():
            continue
        row[:] = mean[step] * mask[: len(Action)]
        total = row.sum()
        if total > 0:
            row /= total
            continue
        legal = [x for x in INSTEAD[int(mean[step].argmax())] if mask[x]]
        row[legal[:1]] = 1
    return votes


def trust_of(weight: float) -> float:
    """The logit of a weight in [0, 1].

    >>> [trust_of(x) for x in (0.0, 0.5, 1.0)]
    [-inf, 0.0, inf]
    """
    if weight in (0, 1):
        return math.inf if weight else -math.inf
    return math.log(weight / (1 - weight))


def mixed(logits: Tensor, votes: Tensor, trust: Tensor) -> Tensor:
    """(..., A): the logits of a policy into which votes are mixed.

    Args:
        logits: (..., A): of the policy; ``LEAST_LOGIT`` for what is impossible.
        votes: (..., 3): all 0 where there are none; then it stays as it is.
        trust: (...): the logit of their weight.
    """
    own = logits.log_softmax(-1)
    theirs = pad(votes, (0, own.shape[-1] - votes.shape[-1])).log()
    trust = trust.unsqueeze(-1)
    both = torch.logaddexp(logsigmoid(-trust) + own, logsigmoid(trust) + theirs)
    are_there = votes.sum(-1, keepdim=True) > 0
    return torch.where(are_there, both, own).clamp_min(LEAST_LOGIT)
