"""From what is observed to a hidden state."""

from __future__ import annotations

from typing import NamedTuple, Self, cast

import torch
from torch import Tensor, nn

from hybridalloc.agents.muzero.blocks import (
    Attention,
    Residual,
    ResidualConvolutions,
    scale_to_unit,
)
from hybridalloc.agents.muzero.config import NetworkConfig
from hybridalloc.agents.muzero.observing import Observations
from hybridalloc.game.observation.tables import (
    FACTS,
    IS_ACCESS,
    PROFILES,
    SUPPLIES,
)


class Seen(NamedTuple):
    """Observations of B positions, as tensors on the network's device."""

    profile: Tensor
    """(B, 2, spans, rows)"""
    supply: Tensor
    """(B, 6, spans)"""
    tokens: Tensor
    """(B, tokens, 27 + 3 H)"""
    summary: Tensor
    """(B, 14)"""

    @classmethod
    def of(cls, observations: Observations, device: torch.device) -> Self:
        """Observations on a device; on the CPU, in the same memory if they may be."""
        made = (torch.from_numpy(x).to(device, torch.float32) for x in observations)
        return cls(*made)


class Raster(nn.Module):
    """Convolutions over the memory profile, together with the supply of copying."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        channels, patch, seen = config.channels, config.patch, config.observation
        self.profile = nn.Conv2d(PROFILES, channels, patch, stride=patch)
        self.supply = nn.Conv1d(SUPPLIES, channels, patch, stride=patch)
        blocks = (ResidualConvolutions(channels) for _ in range(config.convolutions))
        self.blocks = nn.Sequential(*blocks)
        self.shrink = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        places = -(-seen.spans // patch // 2) * -(-seen.rows // patch // 2)
        self.features = channels * places
        """How many numbers come out."""

    def forward(self, profile: Tensor, supply: Tensor) -> Tensor:
        """(B, 2, spans, rows) and (B, 6, spans) to (B, features).

        The supply of a span belongs to all its rows.
        """
        image = self.profile(profile) + self.supply(supply).unsqueeze(-1)
        shrunk = self.shrink(self.blocks(image).relu())
        return cast(Tensor, shrunk.flatten(1).relu())


class Accesses(nn.Module):
    """Attention over the coming accesses."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width = config.token_width
        self.embed = nn.Linear(config.observation.features, width)
        self.places = nn.Parameter(0.1 * torch.randn(config.observation.tokens, width))
        layers = (Attention(width, config.heads) for _ in range(config.attentions))
        self.layers = nn.ModuleList(layers)
        self.brief = nn.Linear(width, config.brief_width)
        self.features = width + config.brief_width * config.observation.tokens
        """How many numbers come out."""

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, tokens, 27 + 3 H) to (B, features).

        The present access among the others, and the others in brief, in their order:
        the dynamics is to go through them without seeing them again.
        """
        absent = tokens[:, :, IS_ACCESS] == 0
        absent[:, 0] = False  # so that something is attended to where nothing comes
        bias = torch.zeros_like(tokens[:, :, 0]).masked_fill(absent, -torch.inf)
        bias = bias[:, None, None]
        x = self.embed(tokens) + self.places
        for layer in self.layers[:-1]:
            x = layer(x, bias, x.shape[1])
        brief = self.brief(x).masked_fill(absent.unsqueeze(-1), 0.0)
        present = self.layers[-1](x, bias, 1)
        return torch.cat((present.flatten(1), brief.flatten(1)), 1)


class Representation(nn.Module):
    """From what is observed to a hidden state."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.raster = Raster(config)
        self.accesses = Accesses(config)
        features = self.raster.features + self.accesses.features + FACTS
        self.join = nn.Linear(features, config.width)
        blocks = (Residual(config.width) for _ in range(config.represent_blocks))
        self.blocks = nn.Sequential(*blocks)

    def forward(self, seen: Seen) -> Tensor:
        """Observations of B positions to (B, width), within [0, 1]."""
        raster = self.raster(seen.profile, seen.supply)
        features = torch.cat((raster, self.accesses(seen.tokens), seen.summary), 1)
        return scale_to_unit(self.blocks(self.join(features)))
