"""Offsets for solutions of a window's model, most of whose stays are fixed."""

from __future__ import annotations

from collections.abc import Sequence

from hybridalloc.cpsat_models.mapping.engine import Engine
from hybridalloc.cpsat_models.mapping.extraction import Draft
from hybridalloc.cpsat_models.mapping.groups import Group, groups_of
from hybridalloc.cpsat_models.mapping.offsets import Conflict, Placement, as_map
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

EXACTLY_S = 1.0
"""Seconds of work, as CP-SAT counts it, for one exact answer."""
ATTEMPTS = 40
"""So often it is tried to make a conflict smaller."""


class WindowPlacement(Placement):
    """Finds offsets, and conflicts only among what may change."""

    def __init__(self, problem: Problem, run: Run, changing: int) -> None:
        """Nothing is placed yet.

        Args:
            problem: The window's.
            run: Its deadline and seed.
            changing: The first so many buffers may change.
        """
        super().__init__(problem, Engine(run.deadline, workers=1, seed=run.seed))
        self._changing = changing

    def place(self, draft: Draft) -> MemoryMap | Conflict:
        """Offsets for all stays, or a conflict of those that may change."""
        quick = self.place_quickly(draft)
        if quick is not None:
            return quick
        groups = groups_of(self._problem.program, draft)
        changing = [x for x in groups if x.stays[0].buffer < self._changing]
        for group in changing:
            if group.overlaps_itself():
                return Conflict(tuple(group.literals))
        proven, exact = self._exactly(groups, EXACTLY_S)
        if exact is not None:
            return as_map(draft, groups, exact)
        if not proven:
            return _conflict_of(changing, proven=False)
        fixed = [x for x in groups if x.stays[0].buffer >= self._changing]
        return _conflict_of(self._smallest(fixed, changing), proven=True)

    def _smallest(self, fixed: Sequence[Group], changing: list[Group]) -> list[Group]:
        """As few of the groups that may change as are known to be in conflict."""
        self._attempts = ATTEMPTS
        left = changing
        for group in sorted(changing, key=lambda x: (x.size, len(x.stays))):
            fewer = [x for x in left if x is not group]
            if self._is_impossible([*fixed, *fewer]):
                left = fewer
        return left


def _conflict_of(groups: Sequence[Group], *, proven: bool) -> Conflict:
    literals = tuple(x for group in groups for x in group.literals)
    return Conflict(literals, proven=proven)
