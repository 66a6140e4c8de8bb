"""The problem: a program to map, the target it runs on, and how time is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from hybridalloc.errors import UsageError
from hybridalloc.learned.prediction import predict
from hybridalloc.memory_map import MemoryMap
from hybridalloc.program import Observation, Program
from hybridalloc.target import Target


class CostModel(StrEnum):
    """What an instruction is taken to cost."""

    ROOFLINE = "roofline"
    """Compute and memory traffic overlap: what XLA's own solver believes."""
    CYCLES = "cycles"
    """The compiler's later estimates, where the program carries them."""
    LEARNED = "learned"
    """Those estimates as a small model predicts them, for every program."""


def get_cost_model(name: CostModel | str) -> CostModel:
    """The cost model of this name.

    Raises:
        UsageError: There is none.
    """
    if name not in list(CostModel):
        raise UsageError(f"unknown cost model {name!r}; known: {', '.join(CostModel)}")
    return CostModel(name)


@dataclass(frozen=True)
class Problem:
    """A program to map onto a target, judged by a cost model."""

    program: Program
    target: Target
    cost_model: CostModel = CostModel.ROOFLINE
    compiler_map: MemoryMap | None = None
    """The compiler's own answer, where the input carries it. Only the strategy
    ``replay`` may look at it."""
    expressible: bool = False
    """Whether only maps count that XLA can be told to carry out: strategies look among
    their stays (``candidate_stays``), and other maps are projected onto them."""

    def __post_init__(self) -> None:
        _ = self.target.capacity  # known from here on
        object.__setattr__(self, "cost_model", CostModel(self.cost_model))
        if self.cost_model is CostModel.CYCLES and not self.has_estimates:
            raise ValueError(
                f"program {self.program.name}: cost model 'cycles' needs the "
                f"compiler's estimates, and no instruction has any (expected "
                f"cycles.csv beside the program, or observations in its file; "
                f"'learned' predicts them)"
            )

    @property
    def has_estimates(self) -> bool:
        """Whether any instruction carries the compiler's estimate."""
        return any(i.observations for i in self.program.instructions)

    @cached_property
    def observations(self) -> tuple[tuple[Observation, ...], ...]:
        """For each instruction, the estimates that its cost model goes by.

        None under ``roofline``, its own under ``cycles``, and predicted ones, whatever
        it carries, under ``learned``.
        """
        if self.cost_model is CostModel.LEARNED:
            return predict(self.program, self.target)
        if self.cost_model is CostModel.CYCLES:
            return tuple(i.observations for i in self.program.instructions)
        return ((),) * len(self.program)

    def with_capacity(self, capacity: int) -> Problem:
        """The same problem with this many bytes of fast memory."""
        return replace(self, target=self.target.with_capacity(capacity))

    def restricted(self) -> Problem:
        """The same problem, for maps that XLA can be told to carry out."""
        engine = replace(self.target.copy_engine, max_slices=1)
        target = replace(self.target, copy_engine=engine)
        return replace(self, target=target, expressible=True)
