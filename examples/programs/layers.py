"""Programs to capture: layers without attention.

Beside each function stands one that returns the shapes of its arguments.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def weights(*shape: int) -> Any:
    """The shape of an array of weights or activations."""
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def perceptron(x: Any, layers: list[Any]) -> Any:
    """Matrix products, one after another."""
    for layer in layers:
        x = jax.nn.relu(x @ layer)
    return x


def perceptron_arguments() -> tuple[Any, ...]:
    """Eight layers on a small batch."""
    return weights(64, 4096), [weights(4096, 4096) for _ in range(8)]


def convolutions(images: Any, kernels: list[Any]) -> Any:
    """Residual convolutions and an average over each image."""
    for kernel in kernels:
        layout = ("NHWC", "HWIO", "NHWC")
        moved = jax.lax.conv_general_dilated(
            images, kernel, (1, 1), "SAME", dimension_numbers=layout
        )
        images = images + jax.nn.relu(moved)
    return images.mean(axis=(1, 2))


def convolutions_arguments() -> tuple[Any, ...]:
    """Four layers on images of 56 by 56 points."""
    return weights(32, 56, 56, 128), [weights(3, 3, 128, 128) for _ in range(4)]


def recurrence(tokens: Any, matrix: Any, state: Any) -> tuple[Any, Any]:
    """A recurrent layer: a loop over the tokens."""

    def step(state: Any, token: Any) -> tuple[Any, Any]:
        state = jnp.tanh(token + state @ matrix)
        return state, state

    last, states = jax.lax.scan(step, state, tokens)
    return last, states


def recurrence_arguments() -> tuple[Any, ...]:
    """128 tokens of 32 sequences."""
    return weights(128, 32, 2048), weights(2048, 2048), weights(32, 2048)
