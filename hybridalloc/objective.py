"""What a search makes small: the time, or two times of which neither may grow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from hybridalloc.errors import UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem

if TYPE_CHECKING:
    from hybridalloc.simulator import Simulator

MODELS = (CostModel.ROOFLINE, CostModel.CYCLES)
"""The cost models of a robust objective, in the order of all its pairs; of a problem
under ``learned``, that is the second one."""


class Objective(Protocol):
    """What decides between two valid maps."""

    def score(self, memory_map: MemoryMap) -> float:
        """Less is better; infinite for a map that does not count."""
        ...


@dataclass(frozen=True)
class Time:
    """The simulated time under the problem's own cost model."""

    problem: Problem

    def score(self, memory_map: MemoryMap) -> float:
        """The time in seconds."""
        return self._simulator.simulate(memory_map).time_s

    @cached_property
    def _simulator(self) -> Simulator:
        return _simulator(self.problem)


@dataclass(frozen=True)
class Robust:
    """Worse than a reference map under neither cost model, and the best of these.

    The score is the geometric mean of the two ratios time / reference time: the
    reference itself has 1. Times are the simulator's, and compared exactly: what is
    longer by a rounding error does not count.
    """

    problems: tuple[Problem, Problem]
    """The problem under each of ``MODELS``."""
    limits_s: tuple[float, float]
    """The reference's seconds under each: the most that a map may take."""

    def __post_init__(self) -> None:
        models = tuple(problem.cost_model for problem in self.problems)
        if models not in (MODELS, (CostModel.ROOFLINE, CostModel.LEARNED)):
            raise ValueError(f"robust: cost models {models}, expected {MODELS}")
        for model, limit_s in zip(models, self.limits_s, strict=True):
            if not 0 <= limit_s < math.inf:
                raise ValueError(f"robust: a {model} time of {limit_s} s, not finite")

    @classmethod
    def against(cls, problem: Problem, reference: MemoryMap) -> Robust:
        """The objective of being worse than a map under neither cost model.

        Args:
            problem: Under ``learned``, that takes the place of ``cycles``.
            reference: A valid map.

        Raises:
            UsageError: The program carries no estimates, so one model is missing, or
                a time of the reference is not finite.
        """
        learned = problem.cost_model is CostModel.LEARNED
        if not (learned or problem.has_estimates):
            raise UsageError(
                f"robust: program {problem.program.name} has no compiler's estimates "
                f"for cost model 'cycles' (expected cycles.csv beside the program, "
                f"observations in its file, or cost model 'learned')"
            )
        roofline = replace(problem, cost_model=CostModel.ROOFLINE)
        second = problem if learned else replace(problem, cost_model=CostModel.CYCLES)
        unlimited = cls((roofline, second), (0.0, 0.0))
        try:
            return replace(unlimited, limits_s=unlimited.times_s(reference))
        except ValueError as error:
            raise UsageError(str(error)) from error

    def times_s(self, memory_map: MemoryMap) -> tuple[float, float]:
        """The simulated seconds under each model."""
        roofline, cycles = self._simulators
        return (
            roofline.simulate(memory_map).time_s,
            cycles.simulate(memory_map).time_s,
        )

    def score(self, memory_map: MemoryMap) -> float:
        """The geometric mean of the ratios; infinite if one of them is above 1."""
        return score(self.times_s(memory_map), self.limits_s)

    def speedups(self, times_s: tuple[float, float]) -> tuple[float, float]:
        """The reference's seconds under each model over these."""
        pairs = zip(self.limits_s, times_s, strict=True)
        roofline, cycles = (
            limit_s / time_s if time_s > 0 else 1.0 for limit_s, time_s in pairs
        )
        return roofline, cycles

    def by_model(self, pair: tuple[float, float]) -> dict[str, float]:
        """A value for each of the two models, by its name."""
        models = (problem.cost_model.value for problem in self.problems)
        return dict(zip(models, pair, strict=True))

    @cached_property
    def _simulators(self) -> tuple[Simulator, Simulator]:
        roofline, cycles = self.problems
        return _simulator(roofline), _simulator(cycles)


def score(times_s: tuple[float, float], limits_s: tuple[float, float]) -> float:
    """The robust score of a map by its times.

    Args:
        times_s: Its seconds under each of ``MODELS``.
        limits_s: Those of the reference.

    Returns:
        The geometric mean of time / limit; infinite if one of them is above 1.

    >>> score((4.0, 9.0), (4.0, 9.0)), score((1.0, 9.0), (4.0, 9.0))
    (1.0, 0.5)
    >>> score((1.0, 9.1), (4.0, 9.0))
    inf
    """
    pairs = list(zip(times_s, limits_s, strict=True))
    if not all(time_s <= limit_s for time_s, limit_s in pairs):
        return math.inf
    return math.sqrt(math.prod(t / limit if limit > 0 else 1.0 for t, limit in pairs))


def _simulator(problem: Problem) -> Simulator:
    from hybridalloc.simulator import Simulator  # loads the compiler of its loops

    return Simulator(problem)
