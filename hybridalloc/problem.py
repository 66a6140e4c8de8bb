"""The problem: a program to map, the target it runs on, and how time is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from hybridalloc.memory_map import MemoryMap
from hybridalloc.program import Program
from hybridalloc.target import Target


class CostModel(StrEnum):
    """What an instruction is taken to cost."""

    ROOFLINE = "roofline"
    """Compute and memory traffic overlap: what XLA's own solver believes."""
    CYCLES = "cycles"
    """The compiler's later estimates, where the program carries them."""


@dataclass(frozen=True)
class Problem:
    """A program to map onto a target, judged by a cost model."""

    program: Program
    target: Target
    cost_model: CostModel = CostModel.ROOFLINE
    compiler_map: MemoryMap | None = None
    """The compiler's own answer, where the input carries it. Only the strategy
    ``replay`` may look at it."""

    def __post_init__(self) -> None:
        _ = self.target.capacity  # known from here on
        object.__setattr__(self, "cost_model", CostModel(self.cost_model))
        if self.cost_model is CostModel.CYCLES and not self.has_estimates:
            raise ValueError(
                f"program {self.program.name}: cost model 'cycles' needs the "
                f"compiler's estimates, and no instruction has any (expected "
                f"cycles.csv beside the program, or observations in its file)"
            )

    @property
    def has_estimates(self) -> bool:
        """Whether any instruction carries the compiler's estimate."""
        return any(i.observations for i in self.program.instructions)

    def with_capacity(self, capacity: int) -> Problem:
        """The same problem with this many bytes of fast memory."""
        return replace(self, target=self.target.with_capacity(capacity))
