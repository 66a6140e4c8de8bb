"""What the programs of this folder share.

What makes the arguments of a program has its name with ``_arguments``.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Array = Any
F32 = jnp.float32


def array(*shape: int, dtype: Any = jnp.bfloat16) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def normalized(x: Array, gain: Array) -> Array:
    x32 = x.astype(F32)
    x32 = x32 - x32.mean(-1, keepdims=True)
    x32 = x32 * lax.rsqrt((x32 * x32).mean(-1, keepdims=True) + 1e-6)
    return x32.astype(x.dtype) * gain


def descended(loss: Any, parameters: Any, *rest: Any) -> Any:
    gradients = jax.grad(loss)(parameters, *rest)
    return jax.tree.map(
        lambda p, g: p - (0.01 * g).astype(p.dtype), parameters, gradients
    )
