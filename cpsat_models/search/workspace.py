"""A map in the making beside its problem: made of a map, and made a map again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridalloc.allocating import allocate, allocate_cross_program, in_queue_order
from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.weighing import costs
from hybridalloc.incremental import tables
from hybridalloc.incremental.directory import directory
from hybridalloc.incremental.edits import accept, begin_move, judge, put
from hybridalloc.incremental.instructions import refresh
from hybridalloc.incremental.tables import Clock, State, World
from hybridalloc.incremental.world import (
    Row,
    build_clock,
    build_world,
)
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
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
        self.state = _empty(self.world, slots, len(program.buffers))
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
        self._start_clocks()
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

    def _start_clocks(self) -> None:
        points, fast = self.world.points, self.state.fast
        for clock, where in zip(self.clocks, self.directories[2], strict=True):
            for is_fast in (True, False):
                fast[:] = is_fast
                for t in range(len(clock.times)):
                    begin, end = points[t : t + 2, tables.FIRST_ACCESS].tolist()
                    refresh(where, fast, begin, end, t)
                if is_fast:
                    clock.terms[:, tables.LEAST] = clock.times[:, tables.ELAPSED]

    def _adopt(self, found: Sequence[Found]) -> None:
        index = {_key(row): i for i, row in enumerate(self._rows)}
        begin_move(*self.directories[:2])
        for one in found:
            row = self._slot_row(one, index[_key(self._row_of(one))])
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

    def _slot_row(self, found: Found, stay: int) -> Ints:
        head, alignment = found.allocations[0], self._problem.target.fast.alignment
        size = self._problem.program.buffers[head.buffer].size
        row = np.zeros(tables.SLOT_COLUMNS, dtype=np.int64)
        row[tables.STAY], row[tables.OF] = stay, head.buffer
        row[tables.OFFSET] = (head.offset or 0) // alignment
        row[tables.FROM], row[tables.READY] = head.start, head.ready
        row[tables.UNTIL] = found.allocations[-1].end
        row[tables.OUT] = row[tables.DUE] = -1
        if head.eviction:
            row[tables.OUT], row[tables.DUE] = head.eviction.issue, head.eviction.due
        boxes = [
            (low - (x.offset or 0), high - (x.offset or 0), start, x.end)
            for x in found.allocations
            for low, high, start in x.parts(size)
        ]
        row[tables.BOXES] = len(boxes)
        for i, (low, high, start, end) in enumerate(boxes):
            box = tables.FIRST_BOX + 4 * i
            row[box : box + 4] = low // alignment, -(-high // alignment), start, end
        return row

    def memory_map(self, rows: Ints) -> MemoryMap:
        """The map of these allocations.

        Args:
            rows: (allocations, SLOT_COLUMNS)
        """
        made = [x for row in rows.tolist() for x in self._allocations(row)]
        return MemoryMap(in_queue_order(made))

    def _allocations(self, row: list[int]) -> list[Allocation]:
        alignment = self._problem.target.fast.alignment
        stay, buffer = self._rows[row[tables.STAY]], row[tables.OF]
        size = self._problem.program.buffers[buffer].size
        offset = row[tables.OFFSET] * alignment
        boxes = [
            row[tables.FIRST_BOX + 4 * i : tables.FIRST_BOX + 4 * i + 4]
            for i in range(row[tables.BOXES])
        ]
        if stay.kind == tables.CROSS:
            spans = [(start, end) for _, _, start, end in boxes]
            return list(allocate_cross_program(stay.stay, offset, spans))
        slices = [
            Slice(min(size, high * alignment) - low * alignment, start)
            for low, high, start, _ in boxes
            if len(boxes) > 1
        ]
        evicts = row[tables.OUT] >= 0
        one = allocate(
            stay.stay,
            offset,
            (row[tables.FROM], row[tables.UNTIL]),
            slices=tuple(slices),
            eviction=Eviction(row[tables.OUT], row[tables.DUE]) if evicts else None,
        )
        return [replace(one, ready=row[tables.READY])]


def _key(row: Row) -> tuple[object, ...]:
    stay = row.stay
    return row.kind, stay.buffer, stay.first, stay.last, stay.body, stay.start


def _empty(world: World, slots: int, buffers: int) -> State:
    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    counts = ints(tables.COUNT_COLUMNS)
    counts[tables.N_SPARE] = slots
    instructions = len(world.points) - 2
    return State(
        slots=ints(slots, tables.SLOT_COLUMNS),
        values=np.zeros(slots),
        active=ints(slots),
        spans=ints(slots, 2),
        spare=np.arange(slots)[::-1].copy(),
        heads=ints(buffers) - 1,
        fast=ints(len(world.accessed)),
        load=ints(instructions),
        outstanding=ints(instructions + 1, 2),
        claims=np.zeros(instructions),
        queued=ints(len(world.steps), 2) - 1,
        copies=ints(tables.PER_SLOT * slots, tables.COPY_COLUMNS),
        works=np.zeros(tables.PER_SLOT * slots),
        log=ints(4 * slots, 2),
        counts=counts,
        blocked=ints(16 * (slots + len(world.reserved)), 3),
        draft=ints(tables.SLOT_COLUMNS),
    )
