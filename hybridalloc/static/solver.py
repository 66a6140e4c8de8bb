"""What a strategy for static allocation is, and what it hands back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hybridalloc.static.problem import StaticProblem


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class StaticRun:
    """How one run of a strategy goes."""

    deadline: float = math.inf
    """When to be done, in seconds of ``time.monotonic()``."""
    seed: int = 0
    workers: int = 1
    """How many threads may work at a time."""
    is_over: Callable[[], bool] = _never
    """Whether to be done before the deadline."""

    @property
    def expired(self) -> bool:
        """Whether to be done now."""
        return time.monotonic() >= self.deadline or self.is_over()


@dataclass(frozen=True, slots=True)
class Placement:
    """What a strategy hands back: offsets, a proof that there are none, or neither."""

    offsets: tuple[int, ...] | None = None
    """For each buffer, in bytes."""
    is_impossible: bool = False
    """Whether it is proven that no offsets fit the capacity."""
    found_by: str = ""
    """The component that found this."""

    @property
    def is_answer(self) -> bool:
        """Whether the question is settled."""
        return self.offsets is not None or self.is_impossible


UNDECIDED = Placement()
"""Neither offsets nor a proof."""


class StaticSolver(Protocol):
    """A strategy for static allocation."""

    def solve(self, problem: StaticProblem, run: StaticRun) -> Placement:
        """Look for offsets within the capacity.

        It neither prints nor checks itself.

        Args:
            problem: What to place; its capacity is given.
            run: Limits and seed.
        """
        ...
