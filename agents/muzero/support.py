"""Real numbers as distributions over a few of them.

As in MuZero (appendix F), the numbers are spread evenly on a transformed scale, so that
small and large ones are told apart alike. What is shared between two neighbours, and
averaged, are the numbers as they are: the mean of a distribution is then the mean of
what it stands for, also where the same position may end in several ways.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybridalloc.agents.muzero.config import SupportConfig

SLOPE = 0.001
"""By which the transform is kept invertible for large numbers."""


def transform(x: Tensor) -> Tensor:
    """h(x) = sign(x) (sqrt(|x| + 1) - 1) + SLOPE x (Pohlen et al., 2018).

    >>> transform(torch.tensor([0.0, 3.0, -8.0])).tolist()
    [0.0, 1.003000020980835, -2.007999897003174]
    """
    return x.sign() * ((x.abs() + 1).sqrt() - 1) + SLOPE * x


def restore(y: Tensor) -> Tensor:
    """The inverse of the transform.

    >>> restore(transform(torch.tensor([3.0, -8.0]))).round(decimals=4).tolist()
    [3.0, -8.0]
    """
    root = (1 + 4 * SLOPE * (y.abs() + 1 + SLOPE)).sqrt()
    return y.sign() * ((2 * (y.abs() + 1 + SLOPE) / (root + 1)).square() - 1)


class Support(nn.Module):
    """The numbers that a categorical value stands for."""

    def __init__(self, config: SupportConfig) -> None:
        super().__init__()
        self.config = config
        most = torch.tensor(config.most / config.unit, dtype=torch.float64)
        half = config.bins // 2
        spread = torch.arange(-half, half + 1, dtype=torch.float64) / half
        numbers = config.unit * restore(spread * transform(most))
        self.register_buffer("_numbers", numbers.float(), persistent=False)

    @property
    def numbers(self) -> Tensor:
        """(bins,): from the least to the largest."""
        return self.get_buffer("_numbers")

    def encode(self, values: Tensor) -> Tensor:
        """Share each number between the two neighbours that it is between.

        Args:
            values: (...,): those beyond the largest or least count as these.

        Returns:
            (..., bins): probabilities, whose mean is the number.

        >>> Support(SupportConfig(bins=3, most=1, unit=1)).encode(torch.tensor(0.25))
        tensor([0.0000, 0.7500, 0.2500])
        """
        numbers = self.numbers
        inside = values.clamp(numbers[0], numbers[-1])
        above = torch.searchsorted(numbers, inside, right=True)
        above = above.clamp(1, len(numbers) - 1)
        low, high = numbers[above - 1], numbers[above]
        share = ((inside - low) / (high - low)).unsqueeze(-1)
        shape = (*values.shape, len(numbers))
        shared = torch.zeros(shape, dtype=values.dtype, device=values.device)
        shared.scatter_(-1, (above - 1).unsqueeze(-1), 1 - share)
        return shared.scatter_(-1, above.unsqueeze(-1), share)

    def decode(self, logits: Tensor) -> Tensor:
        """The means of distributions.

        Args:
            logits: (..., bins)

        Returns:
            (...,)

        >>> Support(SupportConfig(bins=3, most=1, unit=1)).decode(torch.zeros(2, 3))
        tensor([0., 0.])
        """
        return logits.softmax(-1) @ self.numbers
