"""A network for other heuristics than those that it was trained with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from hybridalloc.agents.muzero.network import Network
from hybridalloc.game import Action
from hybridalloc.game.observation.tables import FEATURES

THREE = len(Action)
EMBEDDING = "representation.accesses.embed.weight"
"""Of what is seen of a coming access."""


@torch.no_grad()
def adapted(network: Network, heuristics: Sequence[str]) -> Network:
    """A copy of a network for these heuristics; itself if they are its own.

    To follow one that it does not know has the mean logit of following those that it
    knows, and it does not see the votes of that one. How far all votes are trusted
    stays as it is; a network that knows no heuristics gives them half of the weight.
    Without any, the three actions are left, and no votes.

    Args:
        network: Stays as it is.
        heuristics: Their names, in the order of the advice.
    """
    known, names = network.config.observation.heuristics, tuple(heuristics)
    if names == known:
        return network
    seen = replace(network.config.observation, heuristics=names)
    made = Network(replace(network.config, observation=seen)).to(network.device)
    weights = network.state_dict()
    actions = _actions(known, names).to(network.device)
    columns = _columns(known, names).to(network.device)
    for name in ("actions.weight", "policy_head.1.weight", "policy_head.1.bias"):
        weights[name] = actions @ weights[name]
    weights[EMBEDDING] = weights[EMBEDDING] @ columns
    trusts = {x: y for x, y in weights.items() if x.startswith("trust_head.")}
    if made.trust_head is None:
        weights = {x: y for x, y in weights.items() if x not in trusts}
    elif not trusts:
        weights |= {
            f"trust_head.{x}": y for x, y in made.trust_head.state_dict().items()
        }
    made.load_state_dict(weights)
    return made.eval()


def _actions(known: Sequence[str], names: Sequence[str]) -> Tensor:
    """(A', A): what each action of the other network is, in those of this one."""
    count = len(known)
    parts = torch.zeros(THREE + 2 * len(names), THREE + 2 * count)
    parts[:THREE, :THREE] = torch.eye(THREE)
    for span in range(2):
        for row, name in enumerate(names, THREE + span * len(names)):
            first = THREE + span * count
            if name in known:
                parts[row, first + known.index(name)] = 1
            elif count:
                parts[row, first : first + count] = 1 / count
    return parts


def _columns(known: Sequence[str], names: Sequence[str]) -> Tensor:
    """(features, features'): where the other network sees what this one does."""
    parts = torch.zeros(FEATURES + THREE * len(known), FEATURES + THREE * len(names))
    parts[:FEATURES, :FEATURES] = torch.eye(FEATURES)
    for column, name in enumerate(names):
        if name in known:
            old = FEATURES + THREE * known.index(name)
            new = FEATURES + THREE * column
            parts[old : old + THREE, new : new + THREE] = torch.eye(THREE)
    return parts
