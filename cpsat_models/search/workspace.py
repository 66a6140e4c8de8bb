"""A map in the making beside its problem: made of a map, and made a map again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.allocating import in_queue_order
from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.weighing import costs
from hybridalloc.incremental import tables
from hybridalloc.incremental.directory import directory
from hybridalloc.incremental.edits import accept, begin_move, judge, put
from hybridalloc.incremental.slots import allocations, slot_row
from hybridalloc.incremental.tables import Clock
from hybridalloc.incremental.world import (
    Row,
    build_clock,
    build_world,
    empty_state,
    start_clock,
)
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.recognition import Found, recognise
from hybridalloc.stays import Stay

ROOM = 4096
"""Slots beyond those that could be in use, for what a move takes out."""
MOST_MORE = 50_000
"""By how many allocations a map may grow."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is minimised: a weighted sum of times, none above its limit."""

    problems: tuple[Problem, ...]
    """The problem under one or several cost models."""
    weights: tuple[float, ...]
    """What a second counts under each."""
    limits_s: tuple[float, ...]
    """Seconds."""


class Workspace:
    """The tables of one search."""

    def __init__(
        self,
        goal: Goal,
        stays: Iterable[Stay],
        crosses: Iterable[Stay],
        start: MemoryMap,
    ) -> None:
        """Put a map into empty tables.

        Args:
            goal: What is minimised.
            stays: What may be placed.
            crosses: What may be the cross-program prefetch.
            start: A valid map.
        """
        self._problem = goal.problems[0]
        program = self._problem.program
        found = list(recognise(program, Loops(program), start))
        unusual = {x.stay.buffer for x in found if not x.is_usual}
        self._untouched = {*unusual, *pinned(program)}
        self._rows = self._all_rows(stays, crosses, found)
        self.world = build_world(self._problem, self._rows)
        stays = [x.stay for x in self._rows]
        self.world.weights[:, tables.COST] = costs(self._problem, stays)
        most = len(start) + MOST_MORE
        slots = min(len(self.world.uses), most) + ROOM
        self.state = empty_state(self.world, slots, len(program.buffers))
        self.clocks: tuple[Clock, ...] = tuple(
            build_clock(problem, tables.PER_SLOT * slots, weight, limit)
            for problem, weight, limit in zip(
                goal.problems, goal.weights, goal.limits_s, strict=True
            )
        )
        self.directories = (
            directory(self.world),
            directory(self.state),
            np.stack([directory(clock) for clock in self.clocks]),
        )
        """Of the world, the state and the clocks."""
        for clock, where in zip(self.clocks, self.directories[2], strict=True):
            start_clock(self.world, self.state, clock, where)
        self._adopt(found)

    def _all_rows(
        self,
        stays: Iterable[Stay],
        crosses: Iterable[Stay],
        found: Sequence[Found],
    ) -> list[Row]:
        alignment = self._problem.target.fast.alignment
        buffers = self._problem.program.buffers
        rows = [
            *(Row(x) for x in stays),
            *(Row(x, tables.CROSS) for x in crosses),
        ]
        rows = [
            x
            for x in rows
            if x.stay.buffer not in self._untouched
            and (buffers[x.stay.buffer].offset or 0) % alignment == 0
        ]
        known = {_key(x) for x in rows}
        for one in found:
            row = self._row_of(one)
            if _key(row) not in known:
                known.add(_key(row))
                rows.append(row)
        return sorted(rows, key=lambda x: (x.stay.start, x.stay.end, x.stay.buffer))

    def _row_of(self, found: Found) -> Row:
        is_cross = found.allocations[0].origin is Origin.CROSS_PROGRAM
        untouched = found.stay.buffer in self._untouched
        return Row(found.stay, tables.CROSS if is_cross else tables.USUAL, untouched)

    def _adopt(self, found: Sequence[Found]) -> None:
        index = {_key(row): i for i, row in enumerate(self._rows)}
        begin_move(*self.directories[:2])
        for one in found:
            stay = index[_key(self._row_of(one))]
            row = slot_row(self._problem, stay, one.allocations)
            put(
                *self.directories,
                row,
                np.inf if one.stay.buffer in self._untouched else 1.0,
            )
        self.state.counts[tables.CHANGED_FROM] = 0
        self.state.counts[tables.CHANGED_TO] = len(self.world.steps)
        self.objective = float(judge(*self.directories))
        """Of the map at the start, as it was put in."""
        accept(*self.directories)

    def memory_map(self, rows: Ints) -> MemoryMap:
        """The map of these allocations.

        Args:
            rows: (allocations, SLOT_COLUMNS)
        """
        made = [
            x
            for row in rows.tolist()
            for x in allocations(self._problem, self._rows[row[tables.STAY]], row)
        ]
        return MemoryMap(in_queue_order(made))


def _key(row: Row) -> tuple[object, ...]:
    stay = row.stay
    return row.kind, stay.buffer, stay.first, stay.last, stay.body, stay.start
