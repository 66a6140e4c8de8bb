"""The parts that networks are made of."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn


class Residual(nn.Module):
    """Adds to a vector what two layers make of it."""

    def __init__(self, width: int, inner: int | None = None) -> None:
        """Prepare the layers.

        Args:
            width: Of the vectors.
            inner: Between the layers; as wide as the vectors, if not told.
        """
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.rise = nn.Linear(width, inner or width)
        self.fall = nn.Linear(inner or width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) to the same."""
        return x + cast(Tensor, self.fall(self.rise(self.norm(x)).relu()))


class ResidualConvolutions(nn.Module):
    """Adds to each place of an image what two convolutions make of its neighbours."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(1, channels)
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to the same."""
        inner = self.first(self.norm(x).relu()).relu()
        return x + cast(Tensor, self.second(inner))


class Attention(nn.Module):
    """Adds to vectors what they find in others, then what two layers make of them."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.norm = nn.LayerNorm(width)
        self.ask = nn.Linear(width, width)
        self.offer = nn.Linear(width, 2 * width)
        self.join = nn.Linear(width, width)
        self.think = Residual(width, 2 * width)

    def forward(self, x: Tensor, bias: Tensor, asking: int) -> Tensor:
        """Attend.

        Args:
            x: (B, T, width)
            bias: (B, 1, 1, T): is added to the scores of what is attended to.
            asking: How many of the vectors attend to all, from the first on.

        Returns:
            (B, asking, width)
        """
        normed = self.norm(x)
        questions = self._part(self.ask(normed[:, :asking]) * self.scale)
        keys, values = map(self._part, self.offer(normed).chunk(2, dim=-1))
        scores = questions @ keys.transpose(-1, -2) + bias
        found = scores.softmax(-1) @ values
        joined = self.join(found.transpose(1, 2).flatten(2))
        return cast(Tensor, self.think(x[:, :asking] + joined))

    def _part(self, x: Tensor) -> Tensor:
        """(B, T, width) to (B, heads, T, width / heads)."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


def scale_to_unit(x: Tensor) -> Tensor:
    """Scale each vector to [0, 1] (MuZero, appendix G).

    >>> scale_to_unit(torch.tensor([[1.0, 2.0, 5.0]])).round(decimals=3).tolist()
    [[0.0, 0.25, 1.0]]
    """
    low, high = torch.aminmax(x, dim=-1, keepdim=True)
    return (x - low) / (high - low + 1e-5)
