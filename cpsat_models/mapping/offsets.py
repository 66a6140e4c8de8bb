"""Offsets for the stays of a solution, or a proof that there are none.

First the stays are packed, as other strategies do; if that fails CP-SAT looks for
offsets with all times fixed. Then a smallest set of stays is sought that have no
offsets already: longer ones at the same places have none either.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from hybridalloc.cpsat_models.mapping.extraction import Draft, Stay
from hybridalloc.cpsat_models.mapping.places import offsets_alone
from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.block import Block
from hybridalloc.packing.repack import repack
from hybridalloc.problem import Problem

PACKINGS = 60
"""So many are tried before CP-SAT is."""
LONGEST_S = 20.0
"""Seconds for one exact answer."""
REDUCTION_S = 2.0
"""Seconds in which a conflict may be made smaller."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Stays that cannot all be there."""

    stays: tuple[Stay, ...]
    proven: bool
    """Or else time was too short to find offsets."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Stays at one offset."""

    stays: tuple[Stay, ...]
    size: int
    fixed: int | None

    def overlaps_itself(self) -> bool:
        """Whether two of its stays are there at one time."""
        if self.size == 0:
            return False
        spans = sorted((x.start, x.end) for x in self.stays)
        return any(
            one[1] > two[0] for one, two in zip(spans, spans[1:], strict=False)
        )

    def block(self) -> Block:
        """As what is packed."""
        rectangles = tuple((0, self.size, x.start, x.end) for x in self.stays)
        return Block(rectangles, self.fixed)


class Placement:
    """Finds offsets for drafts of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._scratch = [x.scratch_bytes for x in problem.program.instructions]

    def place(self, draft: Draft, deadline: float) -> MemoryMap | Conflict:
        """Offsets for all stays.

        Args:
            draft: Stays without offsets.
            deadline: In seconds of ``time.monotonic()``.
        """
        quick = self.place_quickly(draft)
        if quick is not None:
            return quick
        groups = self._groups(draft)
        for group in groups:
            if group.overlaps_itself():
                return Conflict(group.stays, proven=True)
        end = min(deadline, time.monotonic() + LONGEST_S)
        proven, exact = self._exactly(groups, end)
        if exact is not None:
            return _as_map(draft, exact)
        if not proven:
            return Conflict(tuple(draft.stays), proven=False)
        return Conflict(self._smaller(groups, deadline), proven=True)

    def place_quickly(self, draft: Draft) -> MemoryMap | None:
        """Offsets for all stays, if packing finds some."""
        groups = self._groups(draft)
        if any(group.overlaps_itself() for group in groups):
            return None
        offsets = self._offsets(groups, math.inf)
        if offsets is None:
            return None
        by_number = {
            stay.number: offset
            for group, offset in zip(groups, offsets, strict=True)
            for stay in group.stays
        }
        return _as_map(draft, by_number)

    def _groups(self, draft: Draft) -> list[_Group]:
        """The stays of the draft, those that share a place as one."""
        root = list(range(len(draft.stays)))
        for bond in draft.together:
            first, second = root[bond[0]], root[bond[1]]
            root = [first if x == second else x for x in root]
        groups: dict[int, list[Stay]] = {}
        for stay, number in zip(draft.stays, root, strict=True):
            groups.setdefault(number, []).append(stay)
        buffers = self._problem.program.buffers
        made = []
        for stays in groups.values():
            buffer = buffers[stays[0].buffer]
            made.append(_Group(tuple(stays), buffer.size, buffer.offset))
        return made

    def _offsets(
        self, groups: Sequence[_Group], deadline: float, packings: int = PACKINGS
    ) -> list[int] | None:
        """By packing; None if that finds none."""
        offsets = repack(
            [group.block() for group in groups],
            self._problem.target.fast,
            scratch=self._scratch,
            goal=self._problem.target.capacity,
            rng=np.random.default_rng(0),
            deadline=deadline,
            iterations=packings,
        )
        known = [offset for offset in offsets if offset is not None]
        return known if len(known) == len(offsets) else None

    def _exactly(
        self, groups: Sequence[_Group], deadline: float
    ) -> tuple[bool, dict[int, int] | None]:
        """By CP-SAT: whether the answer is proven, and offsets by stay."""
        model = cp_model.CpModel()
        unit = self._problem.target.fast.alignment
        offsets, times, places = [], [], []
        for group in groups:
            domain = self._starts(group)
            if domain.is_empty():
                return True, None
            offset = model.new_int_var_from_domain(domain, "")
            offsets.append(offset)
            blocks = -(-group.size // unit)
            for stay in group.stays if blocks else ():
                length = stay.end - stay.start
                times.append(model.new_fixed_size_interval_var(stay.start, length, ""))
                places.append(model.new_fixed_size_interval_var(offset, blocks, ""))
        model.add_no_overlap_2d(times, places)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
        status = solver.solve(model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            found = {
                stay.number: solver.value(offset) * unit
                for group, offset in zip(groups, offsets, strict=True)
                for stay in group.stays
            }
            return True, found
        return status == cp_model.INFEASIBLE, None

    def _starts(self, group: _Group) -> cp_model.Domain:
        """The offsets that a group may have but for others, in units."""
        spanned = (self._scratch[x.start : x.end] for x in group.stays)
        scratch = max(map(max, spanned))
        fast = self._problem.target.fast
        return offsets_alone(fast, group.size, group.fixed, scratch)

    def _smaller(
        self, groups: Sequence[_Group], deadline: float
    ) -> tuple[Stay, ...]:
        """Fewer groups that have no offsets either, small ones left out first."""
        end = min(deadline, time.monotonic() + REDUCTION_S)
        left = list(groups)
        for group in sorted(groups, key=lambda x: (x.size, len(x.stays))):
            if time.monotonic() > end:
                break
            fewer = [x for x in left if x is not group]
            if self._offsets(fewer, math.inf, packings=12) is None:
                proven, found = self._exactly(fewer, end)
                if proven and found is None:
                    left = fewer
        return tuple(stay for group in left for stay in group.stays)


def _as_map(draft: Draft, offsets: dict[int, int]) -> MemoryMap:
    return MemoryMap(
        tuple(
            replace(stay.allocation(), offset=offsets[stay.number])
            for stay in draft.stays
        )
    )
