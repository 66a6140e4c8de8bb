"""Slots of the tables and the allocations that they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hybridalloc.allocating import allocate, allocate_cross_program
from hybridalloc.arrays import Ints
from hybridalloc.incremental import tables
from hybridalloc.incremental.world import Row
from hybridalloc.memory_map import Allocation, Eviction, Slice
from hybridalloc.problem import Problem


def slot_row(problem: Problem, stay: int, allocated: Sequence[Allocation]) -> Ints:
    """(SLOT_COLUMNS,): the slot of allocations.

    Args:
        problem: Of the tables.
        stay: The row of their stay.
        allocated: One; or two of a cross-program prefetch.
    """
    head, alignment = allocated[0], problem.target.fast.alignment
    size = problem.program.buffers[head.buffer].size
    row = np.zeros(tables.SLOT_COLUMNS, dtype=np.int64)
    row[tables.STAY], row[tables.OF] = stay, head.buffer
    row[tables.OFFSET] = (head.offset or 0) // alignment
    row[tables.FROM], row[tables.READY] = head.start, head.ready
    row[tables.UNTIL] = allocated[-1].end
    row[tables.OUT] = row[tables.DUE] = -1
    if head.eviction:
        row[tables.OUT], row[tables.DUE] = head.eviction.issue, head.eviction.due
    boxes = [
        (low - (x.offset or 0), high - (x.offset or 0), start, x.end)
        for x in allocated
        for low, high, start in x.parts(size)
    ]
    row[tables.BOXES] = len(boxes)
    for i, (low, high, start, end) in enumerate(boxes):
        box = tables.FIRST_BOX + 4 * i
        row[box : box + 4] = low // alignment, -(-high // alignment), start, end
    return row


def allocations(problem: Problem, made: Row, row: Sequence[int]) -> list[Allocation]:
    """The allocations of a slot.

    Args:
        problem: Of the tables.
        made: The stay.
        row: (SLOT_COLUMNS,)
    """
    alignment = problem.target.fast.alignment
    size = problem.program.buffers[row[tables.OF]].size
    offset = row[tables.OFFSET] * alignment
    boxes = [
        row[tables.FIRST_BOX + 4 * i : tables.FIRST_BOX + 4 * i + 4]
        for i in range(row[tables.BOXES])
    ]
    if made.kind == tables.CROSS:
        spans = [(start, end) for _, _, start, end in boxes]
        return list(allocate_cross_program(made.stay, offset, spans))
    slices = [
        Slice(min(size, high * alignment) - low * alignment, start)
        for low, high, start, _ in boxes
        if len(boxes) > 1
    ]
    evicts = row[tables.OUT] >= 0
    one = allocate(
        made.stay,
        offset,
        (row[tables.FROM], row[tables.UNTIL]),
        slices=tuple(slices),
        eviction=Eviction(row[tables.OUT], row[tables.DUE]) if evicts else None,
    )
    return [replace(one, ready=row[tables.READY])]
