"""Programs to capture: a transformer block, its training step and its decoding.

Beside each function stands one that returns the shapes of its arguments. Sizes are
small enough to compile in seconds and too large for everything to be in fast memory.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

HEADS = 16
WIDTH = 2048

Arrays = dict[str, Any]
"""Arrays by name."""


def weights(*shape: int) -> Any:
    """The shape of an array of weights or activations."""
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def block_weights() -> Arrays:
    """The shapes of one transformer block's weights."""
    square, gain = weights(WIDTH, WIDTH), weights(WIDTH)
    names = ("query", "key", "value", "out")
    return {
        **dict.fromkeys(names, square),
        **dict.fromkeys(("attention_gain", "feed_forward_gain"), gain),
        "up": weights(WIDTH, 4 * WIDTH),
        "down": weights(4 * WIDTH, WIDTH),
    }


def normalized(x: Any, gain: Any) -> Any:
    """Root-mean-square normalization, in float32."""
    wide = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)
    return (wide * scale).astype(x.dtype) * gain


def attention(query: Any, keys: Any, values: Any, mask: Any) -> Any:
    """Softmax attention; positions that the mask excludes count nothing."""
    scores = jnp.einsum("bshd,bthd->bhst", query, keys).astype(jnp.float32)
    scores = jnp.where(mask, scores * query.shape[-1] ** -0.5, -1e9)
    shares = jax.nn.softmax(scores, axis=-1).astype(values.dtype)
    return jnp.einsum("bhst,bthd->bshd", shares, values)


def by_head(x: Any) -> Any:
    """The last axis split into heads."""
    return x.reshape(*x.shape[:-1], HEADS, -1)


def feed_forward(x: Any, block: Arrays) -> Any:
    """The second half of a transformer block."""
    hidden = jax.nn.gelu(normalized(x, block["feed_forward_gain"]) @ block["up"])
    return x + hidden @ block["down"]


def transformer_block(x: Any, block: Arrays) -> Any:
    """A causal transformer block on a batch of sequences."""
    inner = normalized(x, block["attention_gain"])
    query, keys, values = (
        by_head(inner @ block[name]) for name in ("query", "key", "value")
    )
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    mixed = attention(query, keys, values, mask).reshape(x.shape)
    return feed_forward(x + mixed @ block["out"], block)


def transformer_block_arguments() -> tuple[Any, ...]:
    """Four sequences of 512 tokens."""
    return weights(4, 512, WIDTH), block_weights()


def loss(blocks: list[Arrays], x: Any, wanted: Any) -> Any:
    """The mean square distance of what the blocks make of the input."""
    for block in blocks:
        x = transformer_block(x, block)
    return jnp.mean(jnp.square((x - wanted).astype(jnp.float32)))


def _training_step(blocks: list[Arrays], x: Any, wanted: Any) -> tuple[Any, Any]:
    """One step of gradient descent; the new weights take the place of the old."""
    value, gradients = jax.value_and_grad(loss)(blocks, x, wanted)
    return jax.tree.map(lambda w, g: w - g * 2**-10, blocks, gradients), value


training_step = jax.jit(_training_step, donate_argnums=0)


def training_step_arguments() -> tuple[Any, ...]:
    """One block, two sequences of 512 tokens."""
    return [block_weights()], weights(2, 512, WIDTH), weights(2, 512, WIDTH)


def _decode_step(
    x: Any, blocks: list[Arrays], caches: list[Arrays], position: Any
) -> tuple[Any, list[Arrays]]:
    """One token of each sequence; keys and values are added to the caches in place."""
    updated = []
    for block, cache in zip(blocks, caches, strict=True):
        inner = normalized(x, block["attention_gain"])
        now = {name: by_head(inner @ block[name]) for name in ("key", "value")}
        cache = {
            name: jax.lax.dynamic_update_slice_in_dim(cache[name], new, position, 1)
            for name, new in now.items()
        }
        mask = jnp.arange(cache["key"].shape[1]) <= position
        query = by_head(inner @ block["query"])
        mixed = attention(query, cache["key"], cache["value"], mask).reshape(x.shape)
        x = feed_forward(x + mixed @ block["out"], block)
        updated.append(cache)
    return x, updated


decode_step = jax.jit(_decode_step, donate_argnums=2)


def decode_step_arguments() -> tuple[Any, ...]:
    """Two blocks, eight sequences, room for 1024 tokens in the caches."""
    cache = weights(8, 1024, HEADS, WIDTH // HEADS)
    caches = [{"key": cache, "value": cache} for _ in range(2)]
    position = jax.ShapeDtypeStruct((), jnp.int32)
    return weights(8, 1, WIDTH), [block_weights() for _ in range(2)], caches, position
