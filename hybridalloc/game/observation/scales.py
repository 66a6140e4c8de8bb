"""Scales without units: for shares, distances and time around the present."""

from __future__ import annotations

import math

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.observation.config import ObservationConfig
from hybridalloc.jit import compiled

DECADES = 6.0
"""Shares below 10 to the power of minus this count as nothing on the log scale."""


@compiled
def log_share(share: float) -> float:
    """A share on a log scale from 0, for almost nothing, to 1; minus that of a loss.

    >>> round(log_share(1e-3), 9), log_share(1.0), log_share(0.0), log_share(-1.0)
    (0.5, 1.0, 0.0, -1.0)
    """
    size = abs(share)
    if size <= 10.0**-DECADES:
        return 0.0
    scaled = min(1.0, 1.0 + math.log10(size) / DECADES)
    return scaled if share > 0 else -scaled


def log_distances(instructions: int) -> Floats:
    """(T + 1,): each number of instructions on a log scale, from 0 to 1 for all."""
    return np.log1p(np.arange(instructions + 1)) / math.log1p(instructions)


def edges(instructions: int, config: ObservationConfig) -> Ints:
    """(spans + 1,): where the spans of time begin and end, relative to the present.

    They grow with their distance from it; the farthest reach the ends of the program
    from anywhere.

    >>> edges(100, ObservationConfig(past=2, future=6)).tolist()
    [-100, -10, 0, 2, 5, 10, 22, 46, 100]
    """
    past = _reaches(instructions, config.past)
    return np.concatenate((-past[:0:-1], _reaches(instructions, config.future)))


def _reaches(instructions: int, count: int) -> Ints:
    """(count + 1,): from 0, growing by at least 1 and then geometrically."""
    reaches = [0]
    for k in range(1, count + 1):
        reaches.append(max(reaches[-1] + 1, round(instructions ** (k / count))))
    return np.array(reaches, dtype=np.int64)
