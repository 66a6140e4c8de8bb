"""A stay that has found its place."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.stays import Stay


def no_time() -> Floats:
    """No idle time at all."""
    return np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A stay with its allocations."""

    stay: Stay
    allocations: tuple[Allocation, ...]
    """One; or two of a cross-program prefetch, the second for the next run."""
    value: float
    """Seconds of one run that it saved when it was placed."""
    claims: Floats = field(default_factory=no_time)
    """(instructions from the issue to the due point of its eviction,): the idle time
    in which it is copied, in seconds of one run."""
    stall: float = 0.0
    """Seconds of one run for which the program waits for its copies."""

    @property
    def prefetch(self) -> Allocation | None:
        """The allocation whose content is copied from slow memory, if any is."""
        return next((x for x in self.allocations if x.has_copy), None)

    @property
    def eviction(self) -> Eviction | None:
        """Its copy back to slow memory, if there is one."""
        return self.allocations[0].eviction

    @property
    def is_cross_program(self) -> bool:
        """Whether the previous run leaves it in fast memory."""
        return self.allocations[0].origin is Origin.CROSS_PROGRAM
