"""Commands and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str


Command = Callable[..., Ran]
"""Runs ``hybridalloc`` with the arguments, each text or a path."""
