"""Pickles of functions, whoever defines them."""

from __future__ import annotations

import io
from typing import Any

_JITTED = "PjitFunction"
"""The type of what ``jax.jit`` makes."""


def pickled(value: object) -> bytes:
    """A pickle that another process can load.

    Functions of the main program and functions without a name go by value.

    Raises:
        ImportError: cloudpickle is not installed.
    """
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Keeps the attributes of what ``jax.jit`` makes, which that forgets."""

        def reducer_override(self, value: Any) -> Any:
            if type(value).__name__ != _JITTED:
                return super().reducer_override(value)
            make, arguments, state, *_ = value.__reduce_ex__(5)
            state = (state, dict(vars(value)))
            return make, arguments, state, None, None, set_state

    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def set_state(value: Any, state: tuple[Any, dict[str, Any]]) -> None:
    """Give a loaded object its own state and its attributes."""
    own, attributes = state
    value.__setstate__(own)
    vars(value).update(attributes)
