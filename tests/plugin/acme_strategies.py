"""Strategies that a package of somebody else's adds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hybridalloc import Outcome, Problem, Run
from hybridalloc.registry import get_solver
from hybridalloc.solver import UNANSWERED

LIMIT = 100
"""No strategy."""


@dataclass(frozen=True, slots=True)
class DrawsConfig:
    """How much is tried."""

    count: int = 3
    """How many maps to draw."""

    def __post_init__(self) -> None:
        if not 0 < self.count <= LIMIT:
            raise ValueError(f"count {self.count} is not in [1, {LIMIT}]")


class Draws:
    """The best of a few random maps.

    The rest of the docstring is not shown.
    """

    def __init__(self, config: DrawsConfig | None = None) -> None:
        self.config = config or DrawsConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Draw maps with one seed after the other."""
        outcome, solver = UNANSWERED, get_solver("random")
        for seed in range(run.seed, run.seed + self.config.count):
            if outcome.map is not None and run.expired:
                break
            outcome = solver.solve(problem, replace(run, seed=seed))
            if outcome.map is not None:
                run.report(outcome.map)
        return outcome


class Failing:
    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Fail in a way that nobody foresaw."""
        raise IndexError("list index out of range")


class Demanding:
    """Cannot be made without an argument."""

    def __init__(self, model: str) -> None:
        self.model = model
