"""Transformers: encoding, training, decoding.

What makes the arguments of a program has its name with ``_arguments``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn
from parts import F32, Array, array, descended, normalized


def self_attention(x: Array, p: dict[str, Array], heads: int) -> Array:
    batch, length, width = x.shape
    q, k, v = ((x @ p[n]).reshape(batch, length, heads, -1) for n in "qkv")
    scores = jnp.einsum("bthd,bshd->bhts", q, k).astype(F32) * (width // heads) ** -0.5
    mixed = jnp.einsum("bhts,bshd->bthd", nn.softmax(scores).astype(x.dtype), v)
    return mixed.reshape(batch, length, width) @ p["o"]


def block(x: Array, p: dict[str, Array], heads: int = 12) -> Array:
    x = x + self_attention(normalized(x, p["g1"]), p, heads)
    return x + nn.gelu(normalized(x, p["g2"]) @ p["up"]) @ p["down"]


def block_weights(width: int, hidden: int) -> dict[str, Any]:
    square = {name: array(width, width) for name in "qkvo"}
    gains = {name: array(width) for name in ("g1", "g2")}
    return {
        **square,
        **gains,
        "up": array(width, hidden),
        "down": array(hidden, width),
    }


def encoder(x: Array, blocks: list[dict[str, Array]]) -> Array:
    """Transformer blocks."""
    for p in blocks:
        x = block(x, p)
    return x


def encoder_arguments() -> Any:
    return array(32, 256, 768), [block_weights(768, 3072)] * 4


@partial(jax.jit, donate_argnums=0)
def encoder_step(blocks: list[dict[str, Array]], x: Array) -> Any:
    """A training step of transformer blocks; the parameters are donated."""

    def loss(blocks: list[dict[str, Array]], x: Array) -> Array:
        return (encoder(x, blocks).astype(F32) ** 2).mean()

    return descended(loss, blocks, x)


def encoder_step_arguments() -> Any:
    return [block_weights(768, 3072)] * 2, array(16, 256, 768)


@partial(jax.jit, donate_argnums=1)
def decode(blocks: Any, cache: Any, x: Array, position: Array) -> Any:
    """One token of a transformer with a donated cache of keys and values."""
    grown = []
    for p, (keys, values) in zip(blocks, cache, strict=True):
        batch, _, heads, width = keys.shape
        h = normalized(x, p["g1"])
        q, k, v = ((h @ p[n]).reshape(batch, 1, heads, width) for n in "qkv")
        keys = lax.dynamic_update_slice(keys, k, (0, position, 0, 0))
        values = lax.dynamic_update_slice(values, v, (0, position, 0, 0))
        scores = jnp.einsum("bthd,bshd->bhts", q, keys).astype(F32) * width**-0.5
        mixed = jnp.einsum(
            "bhts,bshd->bthd", nn.softmax(scores).astype(x.dtype), values
        )
        x = x + mixed.reshape(batch, -1) @ p["o"]
        x = x + nn.gelu(normalized(x, p["g2"]) @ p["up"]) @ p["down"]
        grown.append((keys, values))
    return grown, x


def decode_arguments() -> Any:
    cache = (array(8, 512, 16, 64), array(8, 512, 16, 64))
    return (
        [block_weights(1024, 4096)] * 6,
        [cache] * 6,
        array(8, 1024),
        array(dtype=jnp.int32),
    )


def decode_small(blocks: Any, cache: Any, x: Array, position: Array) -> Any:
    """One token of a batch, with a small cache that is not donated."""
    return decode(blocks, cache, x, position)


def decode_small_arguments() -> Any:
    cache = (array(32, 128, 8, 64), array(32, 128, 8, 64))
    return (
        [block_weights(512, 2048)] * 8,
        [cache] * 8,
        array(32, 512),
        array(dtype=jnp.int32),
    )


def attention(x: Array, layers: Any) -> Array:
    """Attention over long sequences."""
    for p in layers:
        x = x + self_attention(normalized(x, p["g1"]), p, 8)
    return x


def attention_arguments() -> Any:
    return array(4, 1024, 512), [block_weights(512, 2048)] * 4
