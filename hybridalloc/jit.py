"""Compilation of inner loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a function at its first call, and keep the result where that is possible.

    The kept code is found again by the function's own file alone. So it should call no
    compiled function of another file: changes there would go unnoticed. The same goes
    for constants imported from another file, which are compiled in: whoever changes one
    must touch the files that use it.
    """
    try:
        return cast(F, njit(cache=True)(function))
    except RuntimeError:  # neither beside the file nor in the user's own cache
        return cast(F, njit(function))
