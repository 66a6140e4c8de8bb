"""Pickles of functions."""

from __future__ import annotations

import pickle
from typing import Any

from hybridalloc.compiler.pickling import pickled


class PjitFunction:
    """Forgets its attributes when it is pickled, as what ``jax.jit`` makes does."""

    def __init__(self, count: int) -> None:
        self.__dict__.update(count=count, info="donated")

    def __getstate__(self) -> dict[str, Any]:
        return {"count": self.__dict__["count"]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def test_a_jitted_function_keeps_its_attributes() -> None:
    loaded = pickle.loads(pickled([PjitFunction(3)]))[0]
    assert vars(loaded) == {"count": 3, "info": "donated"}


def test_a_function_without_a_name_goes_by_value() -> None:
    offset = 4
    assert pickle.loads(pickled(lambda x: x + offset))(3) == 7
