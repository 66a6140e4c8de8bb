"""Convolutions of images.

What makes the arguments of a program has its name with ``_arguments``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jax.numpy as jnp
from jax import lax, nn
from parts import F32, Array, array, descended


def convolved(x: Array, w: Array, stride: int = 1) -> Array:
    return lax.conv_general_dilated(
        x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def residual(x: Array, layers: Any) -> Array:
    """Residual blocks of convolutions."""
    for a, b in layers:
        x = nn.relu(x + convolved(nn.relu(convolved(x, a)), b))
    return x


def residual_arguments() -> Any:
    return array(32, 56, 56, 128), [(array(3, 3, 128, 128),) * 2] * 6


def residual_step(layers: Any, x: Array) -> Any:
    """A training step of residual blocks."""

    def loss(layers: Any, x: Array) -> Array:
        return (residual(x, layers).astype(F32) ** 2).mean()

    return descended(loss, layers, x)


def residual_step_arguments() -> Any:
    return [(array(3, 3, 128, 128),) * 2] * 3, array(16, 28, 28, 128)


def unet(x: Array, down: Any, up: Any) -> Array:
    """Convolutions down and up again, with skip connections."""
    skips = []
    for w in down:
        x = nn.relu(convolved(x, w))
        skips.append(x)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    for w, skip in zip(up, reversed(skips), strict=True):
        x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
        x = nn.relu(convolved(jnp.concatenate([x, skip], -1), w))
    return x


def unet_arguments() -> Any:
    widths = [32, 64, 128, 256]
    down = [array(3, 3, a, b) for a, b in pairwise(widths)]
    up = [array(3, 3, 512, 128), array(3, 3, 256, 64), array(3, 3, 128, 32)]
    return array(16, 256, 256, 32), down, up
