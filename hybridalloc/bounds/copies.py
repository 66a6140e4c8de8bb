"""The rows of copies: the time that they take, and the fast memory they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.linear_program import Builder
from hybridalloc.bounds.resources import FastMemory, IdleTime
from hybridalloc.bounds.space import units
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Loop
from hybridalloc.timeline import Segment


class Work(NamedTuple):
    """The time of copies, one entry for each column that is a part of one."""

    column: Ints
    row: Ints
    """The row that the part takes idle time out of; -1 if it is a stall."""
    seconds_per_byte: Floats
    """``1 / bandwidth`` of its kind of copy."""
    amount: Floats
    """Units of time that the whole copy takes."""


@dataclass(frozen=True, slots=True)
class _Part:
    column: int
    row: int
    seconds_per_byte: float
    amount: float


class Copies:
    """Columns and rows of copies.

    A copy is divided into the part done during a stall and a part for each of some
    blocks of instructions. A stall may as well be at the point where the copy is
    due: moving it there costs the same and holds memory for less long.

    A copy that spans a loop is issued before all of it and due after: a part that is
    copied within holds memory throughout.
    """

    def __init__(
        self,
        builder: Builder,
        problem: Problem,
        loops: Loops,
        memory: FastMemory,
        idle: IdleTime,
        unit_s: float,
        *,
        cautious: bool = False,
    ) -> None:
        """No copies yet; those to come are added to these.

        Args:
            builder: Gets the columns and rows.
            problem: The program and the target.
            loops: Of the program.
            memory: What copies hold.
            idle: What they take.
            unit_s: Seconds in one unit of time.
            cautious: Whether each part holds its share throughout its block. That is
                closer to the whole buffer that a copy holds, yet no relaxation.
        """
        self._cautious = cautious
        self._builder, self._loops = builder, loops
        self._memory, self._idle, self._unit_s = memory, idle, unit_s
        self._alignment = problem.target.fast.alignment
        self._sliced = problem.target.copy_engine.max_slices > 1
        slow = problem.target.slow
        self._read_s, self._write_s = 1 / slow.read_bandwidth, 1 / slow.write_bandwidth
        self._parts: list[_Part] = []

    def prefetch(
        self, done: int, size: int, low: int, high: int, body: Loop | None
    ) -> None:
        """A prefetch that is issued at ``low`` or later and due at ``high``.

        Each part holds its share of the buffer, of its bytes, or of whole units if
        there are no slices: from the last instruction during which it is copied, for
        it is issued by then.

        Args:
            done: The column that is 1 if there is such a copy.
            size: Of the buffer, in bytes.
            low: The first point at which it may be issued.
            high: The point at which it is due.
            body: The innermost loop around both.
        """
        held = float(units(size, self._alignment))
        if self._sliced:
            held = size / self._alignment
        amount = self._amount(size, self._read_s, body)
        blocks = self._idle.cells(low, high, amount)
        for block, part in self._divide(done, amount, self._read_s, blocks):
            first, end = self._idle.span(block)
            last = first if self._cautious else end - 1
            self._memory.hold(part, held, self._loops.outside_before(last, body), high)

    def evict(self, done: int, size: int, low: int, segment: Segment) -> None:
        """An eviction that is issued at ``low`` or later and due in a segment.

        In a valid map the whole buffer is held until the eviction is due; here, in the
        segment, each part until it is copied, its first instruction included.
        """
        held = float(units(size, self._alignment))
        amount = self._amount(size, self._write_s, segment.body)
        start = segment.low
        blocks = self._idle.cells(low, start, amount)
        blocks += self._idle.cells(start, segment.high, amount, forward=True)
        for block, part in self._divide(done, amount, self._write_s, blocks):
            first, end = self._idle.span(block)
            last = min(end, segment.high) - 1 if self._cautious else first
            inner = self._loops.inner(last, segment.body)
            until = inner.end if inner else last + 1
            if until > segment.low:
                self._memory.hold(part, held, segment.low, until)

    def save(self, done: int, size: int, low: int, segment: Segment) -> None:
        """An eviction of what is held throughout the segment where it is due.

        It holds no more than that.
        """
        amount = self._amount(size, self._write_s, segment.body)
        blocks = self._idle.cells(low, segment.high, amount)
        self._divide(done, amount, self._write_s, blocks)

    def work(self) -> Work:
        """What all copies take."""
        parts = self._parts
        return Work(
            column=np.array([x.column for x in parts], dtype=np.int64),
            row=np.array([x.row for x in parts], dtype=np.int64),
            seconds_per_byte=np.array([x.seconds_per_byte for x in parts]),
            amount=np.array([x.amount for x in parts]),
        )

    def _amount(self, size: int, seconds_per_byte: float, body: Loop | None) -> float:
        return self._loops.trips(body) * size * seconds_per_byte / self._unit_s

    def _divide(
        self, done: int, amount: float, seconds_per_byte: float, blocks: list[int]
    ) -> list[tuple[int, int]]:
        """Add a column for each part: the blocks with theirs."""
        builder = self._builder
        stall = builder.column(cost=amount)
        whole = builder.row([(done, -1.0), (stall, 1.0)], low=0.0, high=0.0)
        self._parts.append(_Part(stall, -1, seconds_per_byte, amount))
        parts = []
        for block in blocks:
            row, part = self._idle.rows[block], builder.column()
            builder.add(whole, part, 1.0)
            builder.add(row, part, amount)
            self._parts.append(_Part(part, row, seconds_per_byte, amount))
            parts.append((block, part))
        return parts
