"""Small networks, and positions for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from named_problems import NAMED

from hybridalloc.agents.muzero.config import NetworkConfig
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.game import Game
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.observation import ObservationConfig

COARSE = ObservationConfig(past=2, future=6, rows=8, tokens=5)
TINY = NetworkConfig(
    observation=COARSE, width=16, patch=2, channels=4, token_width=8, heads=2
)
CPU = torch.device("cpu")
torch.set_num_threads(1)  # small networks gain nothing by more, and tests run beside


def network(seed: int = 0, config: NetworkConfig = TINY) -> Network:
    """A network that has an opinion on everything."""
    torch.manual_seed(seed)
    made = Network(config).eval()
    for head in (made.policy_head, made.value_head, made.reward_head):
        for weights in head.parameters():
            torch.nn.init.normal_(weights)
    return made


@cache
def games() -> tuple[FastGame, ...]:
    """Two games, the first with dead ends."""
    names = "a value carried by a loop", "more than fits"
    return tuple(FastGame(Game(NAMED[x])) for x in names)


def positions(seed: int, count: int) -> list[Position]:
    """Positions of both games, somewhere on the way; some are ends."""
    random, found = np.random.default_rng(seed), []
    for k in range(count):
        position = games()[k % 2].begin()
        steps = len(position.game.game.steps)
        position.play_randomly(random, int(random.integers(0, steps + 1)))
        found.append(position)
    return found


def on_the_way(found: Sequence[Position]) -> list[Position]:
    """Those that are no ends."""
    return [x for x in found if not x.is_terminal]


def drawn(seed: int, count: int, config: NetworkConfig = TINY) -> Seen:
    """Numbers of the right shapes."""
    torch.manual_seed(seed)
    sizes = config.observation
    tokens = torch.rand(count, sizes.tokens, sizes.features)
    tokens[:, :, 0] = 1
    return Seen(
        torch.rand(count, 2, sizes.spans, sizes.rows),
        torch.rand(count, 6, sizes.spans),
        tokens,
        torch.rand(count, 14),
    )
