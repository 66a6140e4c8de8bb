"""What a strategy for static allocation is, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hybridalloc.solver import Run
from hybridalloc.static.problem import StaticProblem


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

    def solve(self, problem: StaticProblem, run: Run) -> Placement:
        """Look for offsets within the capacity.

        It neither prints nor checks itself.

        Args:
            problem: What to place; its capacity is given.
            run: A deadline, a seed and workers; there are no maps to start from.
        """
        ...
