"""Trials: plans that were compiled to the end, and what each costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.simulator import Simulator

MODELS = (CostModel.ROOFLINE, CostModel.CYCLES)
DEFAULT = "default"
"""The trial of the compiler's own answer."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan, and what the compiler made of it."""

    name: str
    planned: MemoryMap
    realised: MemoryMap
    planned_s: Mapping[str, float]
    """Simulated seconds of the plan by cost model, as known when it was made."""
    realised_s: Mapping[str, float]
    """Simulated seconds of what the compiler has made of it, by cost model: under
    ``cycles`` every instruction costs what the compiler estimates at that placement."""
    compile_s: float
    """Seconds that the compiler took; next to none if an earlier run waited for it."""

    @property
    def time_s(self) -> float:
        """What decides: the compiler's cycles and simulated stalls, in seconds."""
        return self.realised_s[CostModel.CYCLES]


def times_s(problem: Problem, memory_map: MemoryMap) -> dict[str, float]:
    """The simulated seconds of a map under each of ``MODELS``."""
    return {
        model.value: Simulator(replace(problem, cost_model=model))
        .simulate(memory_map)
        .time_s
        for model in MODELS
    }
