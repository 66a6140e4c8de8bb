"""Dense layers in many arrangements.

What makes the arguments of a program has its name with ``_arguments``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jax.numpy as jnp
from jax import nn
from parts import F32, Array, array, descended, normalized


def mlp(x: Array, weights: list[Array]) -> Array:
    """Wide layers whose weights cannot all be in fast memory."""
    for w in weights:
        x = nn.relu(x @ w)
    return x


def mlp_arguments() -> Any:
    return array(64, 4096), [array(4096, 4096)] * 8


def swiglu(x: Array, layers: Any) -> Array:
    """Gated layers, as in recent language models."""
    for gate, up, down in layers:
        x = x + (nn.silu(x @ gate) * (x @ up)) @ down
    return x


def swiglu_arguments() -> Any:
    layer = (array(2048, 5504), array(2048, 5504), array(5504, 2048))
    return array(512, 2048), [layer] * 3


def mixer(x: Array, layers: Any) -> Array:
    """Layers that mix patches, then channels."""
    for g1, a, b, g2, c, d in layers:
        y = normalized(x, g1).swapaxes(1, 2)
        x = x + (nn.gelu(y @ a) @ b).swapaxes(1, 2)
        x = x + nn.gelu(normalized(x, g2) @ c) @ d
    return x


def mixer_arguments() -> Any:
    layer = (
        *(array(512), array(196, 256), array(256, 196)),
        *(array(512), array(512, 2048), array(2048, 512)),
    )
    return array(128, 196, 512), [layer] * 4


def experts(x: Array, gate: Array, up: Array, down: Array) -> Array:
    """A mixture of experts, all of them computed."""
    weights = nn.softmax((x @ gate).astype(F32)).astype(x.dtype)
    hidden = nn.gelu(jnp.einsum("td,edf->etf", x, up))
    return jnp.einsum("etf,efd,te->td", hidden, down, weights)


def experts_arguments() -> Any:
    return (
        array(1024, 1024),
        array(1024, 8),
        array(8, 1024, 2048),
        array(8, 2048, 1024),
    )


def graph(x: Array, adjacency: Array, weights: list[Array]) -> Array:
    """Graph convolutions with a dense adjacency matrix."""
    for w in weights:
        x = nn.relu(adjacency @ (x @ w))
    return x


def graph_arguments() -> Any:
    return array(4096, 512), array(4096, 4096), [array(512, 512)] * 4


def graph_step(weights: list[Array], x: Array, adjacency: Array) -> Any:
    """A training step of graph convolutions."""

    def loss(weights: list[Array], x: Array, adjacency: Array) -> Array:
        return (graph(x, adjacency, weights).astype(F32) ** 2).mean()

    return descended(loss, weights, x, adjacency)


def graph_step_arguments() -> Any:
    return [array(256, 256)] * 3, array(4096, 256), array(4096, 4096)


def autoencoder_step(layers: Any, x: Array) -> Any:
    """A training step of an autoencoder."""

    def loss(layers: Any, x: Array) -> Array:
        y = x
        for w in layers:
            y = nn.relu(y @ w)
        return ((y - x).astype(F32) ** 2).mean()

    return descended(loss, layers, x)


def autoencoder_step_arguments() -> Any:
    widths = [2048, 1024, 512, 256, 512, 1024, 2048]
    pairs = pairwise(widths)
    return [array(a, b) for a, b in pairs], array(2048, 2048)


def recommender(
    dense: Array, ids: Array, tables: Array, bottom: Any, top: Any
) -> Array:
    """Embeddings and layers, as in recommendation models."""
    for w in bottom:
        dense = nn.relu(dense @ w)
    rows = jnp.take_along_axis(tables, ids[..., None], 1).swapaxes(0, 1)
    every = jnp.concatenate([dense[:, None], rows], 1)
    pairs = jnp.einsum("bid,bjd->bij", every, every)
    x = jnp.concatenate([dense, pairs.reshape(len(pairs), -1)], -1)
    for w in top:
        x = nn.relu(x @ w)
    return x


def recommender_arguments() -> Any:
    bottom = [array(256, 512), array(512, 128)]
    top = [array(128 + 17 * 17, 1024), array(1024, 1024), array(1024, 1)]
    ids = array(16, 2048, dtype=jnp.int32)
    return array(2048, 256), ids, array(16, 20_000, 128), bottom, top


def field(points: Array, weights: list[Array]) -> Array:
    """The network of a radiance field, with a skip connection."""
    frequencies = 2.0 ** jnp.arange(10, dtype=F32)
    angles = (points[..., None] * frequencies).reshape(len(points), -1)
    features = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(
        jnp.bfloat16
    )
    x = features
    for i, w in enumerate(weights):
        x = jnp.concatenate([x, features], -1) if i == 4 else x
        x = nn.relu(x @ w)
    return x


def field_arguments() -> Any:
    widths = [60, 256, 256, 256, 316, 256, 256, 256]
    return array(131_072, 3, dtype=F32), [array(w, 256) for w in widths]
