"""A memory map in the making: stays placed one by one, each as the rules allow."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hybridalloc.allocating import (
    allocate,
    allocate_cross_program,
    head_and_tail,
    in_queue_order,
)
from hybridalloc.arrays import Floats
from hybridalloc.baselines.engine import Engine
from hybridalloc.baselines.placed import Placed, no_time
from hybridalloc.baselines.timing import Timing
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.space import Space, Span
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.stays import Lifetime, Stay

PIECE = 8192
"""Numbers that a product of vectors takes at a time: more would be shared out among
threads, which have to wait for each other where all cores are busy."""


class Plan:
    """Stays placed so far, with the space and the idle time that they leave."""

    def __init__(self, problem: Problem, loops: Loops) -> None:
        self.problem = problem
        self.program = problem.program
        self.loops = loops
        self.timing = Timing(problem)
        self.space: Space[Placed] = Space(problem)
        self.placed: list[list[Placed]] = [[] for _ in problem.program.buffers]
        self.engine = Engine(problem, loops, self.timing)

    @cached_property
    def points(self) -> list[list[int]]:
        """For each buffer, the instructions of its accesses."""
        return [[use.instruction for use in uses] for uses in self.program.uses]

    @property
    def total(self) -> float:
        """Seconds of one run, with the stalls that were taken in."""
        running = _inner_product(self.timing.elapsed, self.timing.runs)
        return float(running + self.engine.stalls.sum())

    @property
    def cross_programs(self) -> int:
        """How many cross-program prefetches are placed."""
        return sum(one.is_cross_program for group in self.placed for one in group)

    def saving(self, stay: Stay) -> float:
        """Seconds of one run that it would save now, its copies apart."""
        served: set[int] = set()
        for placed in self.overlapping(stay):
            served.update(placed.stay.instructions)
        left = [t for t in stay.instructions if t not in served]
        return self.timing.saving(stay.buffer, left)

    def overlapping(self, stay: Stay) -> list[Placed]:
        """The placed stays of the same buffer that share an access with it."""
        return [
            placed
            for placed in self.placed[stay.buffer]
            if placed.stay.first <= stay.last and stay.first <= placed.stay.last
        ]

    def place(self, stay: Stay, may_stall: bool = False) -> Placed | None:
        """Place a stay if there is room for it and its copies are hidden.

        Args:
            stay: It shares no access with one that is placed.
            may_stall: Whether the program may wait for the copies.
        """
        buffer = self.program.buffers[stay.buffer]
        if not self.space.may_fit(buffer, (stay.start, stay.end)):
            return None
        earliest, deadline = self.limits(stay)
        start, stall = self.engine.begin(stay, earliest, may_stall)
        if start < 0:
            return None
        end, eviction, claims = stay.end, None, no_time()
        if stay.evicts:
            eviction, claims = self.engine.evict(stay, deadline, may_stall)
            if eviction is None:
                return None
            end = max(end, eviction.due)
            stall += 0.0 if claims.any() else self.engine.work(stay, evicted=True)
        offset = self.space.best_fit(buffer, [(start, end)])
        if offset is None:
            return None
        allocation = allocate(stay, offset, (start, end), eviction=eviction)
        value = self.saving(stay)
        return self.put(Placed(stay, (allocation,), value, claims, stall))

    def place_pinned(self) -> bool:
        """Place all pinned buffers, each in few stays; whether that worked."""
        return all(
            self._place_run(Lifetime(self.program, self.loops, index), 0, count - 1)
            for index in pinned(self.program)
            if (count := len(self.program.uses[index]))
        )

    def _place_run(self, lifetime: Lifetime, first: int, last: int) -> bool:
        """Place a run of accesses as one stay, or else as two halves."""
        for stay in lifetime.stays_of(first, last):
            exactly = (stay.first, stay.last) == (first, last)
            if exactly and self.place(stay, may_stall=True):
                return True
        middle = (first + last) // 2
        return (
            first < last
            and self._place_run(lifetime, first, middle)
            and self._place_run(lifetime, middle + 1, last)
        )

    def place_cross_program(self, stay: Stay) -> Placed | None:
        """Place a stay from point 0 on, with a copy for the next run in the tail.

        Args:
            stay: Of the first accesses of an input that is neither written nor an
                output, outside all loops, from point 0.
        """
        spans = self.cross_program_spans(stay)
        offset = self.space.best_fit(self.program.buffers[stay.buffer], spans)
        if offset is None:
            return None
        allocations = allocate_cross_program(stay, offset, spans)
        return self.put(Placed(stay, allocations, self.saving(stay)))

    def cross_program_spans(self, stay: Stay) -> list[Span]:
        """When a cross-program prefetch needs its place: a head and a tail, or always.

        Args:
            stay: As for ``place_cross_program``.
        """
        end = len(self.program)
        tail = self.engine.latest_issue(stay, end, stay.end)
        if tail >= 0:
            tail = self.loops.outside_before(tail, stay.body)
        return head_and_tail(stay.end, tail, end)

    def likely_span(self, stay: Stay) -> Span:
        """The instructions during which a stay will need its place, more or less."""
        start, end, clock = stay.start, stay.end, self.engine.clock
        if not stay.produced:
            work = self.engine.work(stay)
            begin = np.searchsorted(clock, clock[start] - work, side="right")
            start = max(stay.earliest, min(start, int(begin) - 1))
        if stay.evicts:
            work = self.engine.work(stay, evicted=True)
            due = np.searchsorted(clock, clock[stay.issue] + work)
            end = max(end, min(stay.deadline, int(due) + 1))
        return start, end

    def limits(self, stay: Stay) -> tuple[int, int]:
        """The first issue and last due point that stays of its buffer leave it."""
        earliest, deadline = stay.earliest, stay.deadline
        for other in self.placed[stay.buffer]:
            start, eviction = other.allocations[0].start, other.eviction
            if other.stay.last < stay.first and eviction:
                at_once = eviction.issue == eviction.due
                earliest = max(earliest, eviction.due + at_once)
            if other.stay.first > stay.last:
                deadline = min(deadline, start if stay.issue < start else start - 1)
        return earliest, deadline

    def put(self, placed: Placed) -> Placed:
        """Put in what was taken out, or is known to fit."""
        size = self.program.buffers[placed.stay.buffer].size
        for allocation in placed.allocations:
            for rectangle in allocation.rectangles(size):
                self.space.take(placed, rectangle, placed.value)
        self.placed[placed.stay.buffer].append(placed)
        self.timing.serve(placed.stay.buffer, placed.stay.instructions, fast=True)
        self.engine.account(placed, 1)
        return placed

    def take_out(self, placed: Placed) -> None:
        """Take out a stay."""
        self.space.give_back(placed)
        self.placed[placed.stay.buffer].remove(placed)
        self.timing.serve(placed.stay.buffer, placed.stay.instructions, fast=False)
        self.engine.account(placed, -1)

    def memory_map(self) -> MemoryMap:
        """The map of what is placed."""
        placed = [one for group in self.placed for one in group]
        return MemoryMap(in_queue_order([x for p in placed for x in p.allocations]))


def pinned_map(problem: Problem) -> MemoryMap | None:
    """A map of what is pinned alone; ``None`` if a simple search finds no places."""
    if not pinned(problem.program):
        return MemoryMap()
    plan = Plan(problem, Loops(problem.program))
    return plan.memory_map() if plan.place_pinned() else None


def _inner_product(one: Floats, other: Floats) -> float:
    pieces = (slice(first, first + PIECE) for first in range(0, len(one), PIECE))
    return sum(float(one[piece] @ other[piece]) for piece in pieces)
