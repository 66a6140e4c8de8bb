"""Offsets for the stays of a solution, or a proof that there are none.

First the stays are packed, as other strategies do; if that fails CP-SAT looks for
offsets with all times fixed. Then a smallest set of stays is sought that have no
offsets already: longer ones at the same places have none either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from hybridalloc.cpsat_models.mapping.engine import Ending, Engine
from hybridalloc.cpsat_models.mapping.extraction import Draft
from hybridalloc.cpsat_models.mapping.groups import Group, groups_of
from hybridalloc.cpsat_models.mapping.places import offsets_alone
from hybridalloc.cpsat_models.mapping.variables import Lit
from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.repack import repack
from hybridalloc.problem import Problem

PACKINGS = 60
"""So many are tried before CP-SAT is."""
FEW_PACKINGS = 8
"""The same where it is likely that there is none."""
LONGEST_S = 5.0
"""Seconds of work, as CP-SAT counts it deterministically, for one exact answer."""
LESS_S = 0.2
"""The same for an attempt to make a conflict smaller."""
MOST_ATTEMPTS = 200
"""So often that is tried for one conflict."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a draft has no offsets."""

    literals: tuple[Lit, ...]
    """Not all of them can be true."""
    at_once: frozenset[int] = frozenset()
    """If not empty: these buffers have no places at one time, whatever the
    instruction."""
    scratch: int = 0
    """Where an instruction needs so many bytes at least."""
    proven: bool = True
    """Or else time was too short to find offsets."""


class Placement:
    """Finds offsets for drafts of one problem."""

    def __init__(self, problem: Problem, engine: Engine) -> None:
        self._problem = problem
        self._engine = engine
        self._scratch = [x.scratch_bytes for x in problem.program.instructions]
        self._attempts = 0

    def place(self, draft: Draft) -> MemoryMap | Conflict:
        """Offsets for all stays, or why there are none."""
        quick = self.place_quickly(draft)
        if quick is not None:
            return quick
        groups = groups_of(self._problem.program, draft)
        for group in groups:
            if group.overlaps_itself():
                return Conflict(tuple(group.literals))
        proven, exact = self._exactly(groups, LONGEST_S)
        if exact is not None:
            return as_map(draft, groups, exact)
        if not proven:
            literals = (x for group in groups for x in group.literals)
            return Conflict(tuple(literals), proven=False)
        return self._conflict(groups)

    def place_quickly(self, draft: Draft) -> MemoryMap | None:
        """Offsets for all stays, if packing finds some."""
        groups = groups_of(self._problem.program, draft)
        if any(group.overlaps_itself() for group in groups):
            return None
        offsets = self._packed(groups, PACKINGS)
        return None if offsets is None else as_map(draft, groups, offsets)

    def _packed(self, groups: Sequence[Group], packings: int) -> list[int] | None:
        """Offsets by packing; None if that finds none."""
        offsets = repack(
            [group.block() for group in groups],
            self._problem.target.fast,
            scratch=self._scratch,
            goal=self._problem.target.capacity,
            rng=np.random.default_rng(0),
            deadline=self._engine.deadline,
            iterations=packings,
        )
        known = [offset for offset in offsets if offset is not None]
        return known if len(known) == len(offsets) else None

    def _exactly(
        self, groups: Sequence[Group], seconds: float
    ) -> tuple[bool, list[int] | None]:
        """By CP-SAT: whether the answer is proven, and offsets if there are any."""
        model = cp_model.CpModel()
        unit = self._problem.target.fast.alignment
        offsets, times, places = [], [], []
        for group in groups:
            domain = self._alone(group)
            if domain.is_empty():
                return True, None
            offset = model.new_int_var_from_domain(domain, "")
            offsets.append(offset)
            blocks = -(-group.size // unit)
            for start, end in group.times if blocks else ():
                times.append(model.new_fixed_size_interval_var(start, end - start, ""))
                places.append(model.new_fixed_size_interval_var(offset, blocks, ""))
        model.add_no_overlap_2d(times, places)
        ending = self._engine.solve(model, deterministic_limit=seconds)
        if ending is Ending.OPTIMAL:
            value = self._engine.solver.value
            return True, [value(offset) * unit for offset in offsets]
        return ending is Ending.INFEASIBLE, None

    def _alone(self, group: Group) -> cp_model.Domain:
        """The offsets that a group may have but for others, in units."""
        scratch = max(max(self._scratch[x:y]) for x, y in group.times)
        fast = self._problem.target.fast
        return offsets_alone(fast, group.size, group.fixed, scratch)

    def _conflict(self, groups: list[Group]) -> Conflict:
        """Why these groups have no offsets: few of them, and short."""
        self._attempts = MOST_ATTEMPTS
        left = list(groups)
        for group in sorted(groups, key=lambda x: (x.size, len(x.stays))):
            fewer = [x for x in left if x is not group]
            if self._is_impossible(fewer):
                left = fewer
        for i in range(len(left)):
            shorter: Group | None = left[i]
            while shorter is not None:
                left[i] = shorter
                others = [*left[:i], *left[i + 1 :]]
                found = (
                    x for x in left[i].shortened() if self._is_impossible([*others, x])
                )
                shorter = next(found, None)
        return self._at_once(left)

    def _at_once(self, groups: list[Group]) -> Conflict:
        """The conflict, with what shows at a single instruction if all does."""
        literals = tuple(x for group in groups for x in group.literals)
        times = [time for group in groups for time in group.times]
        buffers = frozenset(group.stays[0].buffer for group in groups)
        low, high = max(x for x, _ in times), min(y for _, y in times)
        if low >= high or not len(buffers) == len(groups) == len(times):
            return Conflict(literals)
        scratch = min(self._scratch[low:high])
        point = self._scratch.index(scratch, low)
        self._attempts += 1
        if self._is_impossible([group.at(point) for group in groups]):
            return Conflict(literals, buffers, scratch)
        return Conflict(literals)

    def _is_impossible(self, groups: list[Group]) -> bool:
        """Whether it is proven that there are no offsets, in time."""
        self._attempts -= 1
        if self._attempts < 0 or self._engine.expired:
            return False
        if self._packed(groups, FEW_PACKINGS) is not None:
            return False
        proven, found = self._exactly(groups, LESS_S)
        return proven and found is None


def as_map(draft: Draft, groups: Sequence[Group], offsets: list[int]) -> MemoryMap:
    """The map of a draft.

    Args:
        draft: Its stays.
        groups: Those that share their places.
        offsets: (groups,): in bytes.
    """
    by_number = {
        stay.number: offset
        for group, offset in zip(groups, offsets, strict=True)
        for stay in group.stays
    }
    return MemoryMap(
        tuple(
            replace(stay.allocation(), offset=by_number[stay.number])
            for stay in draft.stays
        )
    )
