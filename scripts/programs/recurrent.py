"""Programs that go along time.

What makes the arguments of a program has its name with ``_arguments``.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax, nn
from parts import Array, array


def lstm(x: Array, layers: Any) -> Array:
    """Recurrent layers, each a loop."""
    for w, u in layers:

        def step(carry: Any, x: Array, u: Array = u) -> Any:
            h, c = carry
            i, f, g, o = jnp.split(x + h @ u, 4, -1)
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], u.shape[0]), x.dtype)
        _, x = lax.scan(step, (zero, zero), x @ w)
    return x


def lstm_arguments() -> Any:
    return array(64, 64, 1024), [(array(1024, 4096), array(1024, 4096))] * 2


def waves(x: Array, layers: Any) -> Array:
    """Dilated convolutions over time, with gates."""
    total = jnp.zeros_like(x)
    for i, (filters, gates, out) in enumerate(layers):
        shifted = jnp.pad(x, ((0, 0), (2**i, 0), (0, 0)))[:, : x.shape[1]]
        both = jnp.concatenate([x, shifted], -1)
        y = (jnp.tanh(both @ filters) * nn.sigmoid(both @ gates)) @ out
        total, x = total + y, x + y
    return total


def waves_arguments() -> Any:
    layer = (array(256, 128), array(256, 128), array(128, 128))
    return array(16, 8192, 128), [layer] * 8


def state_space(x: Array, layers: Any) -> Array:
    """Linear recurrences over time, by associative scans."""

    def join(one: Any, other: Any) -> Any:
        return one[0] * other[0], other[0] * one[1] + other[1]

    for a, b, c in layers:
        decay = nn.sigmoid(x @ a)
        _, state = lax.associative_scan(join, (decay, x @ b), axis=1)
        x = x + nn.silu(state) @ c
    return x


def state_space_arguments() -> Any:
    return array(8, 512, 512), [(array(512, 512),) * 3] * 2
