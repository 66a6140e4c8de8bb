"""Every stay in fast memory that one buffer may have by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.baselines.brute_force.choice import span
from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Loop, Memory, Program
from hybridalloc.target import CopyEngine, MemorySpace

ROOM = 64
"""Bytes of fast memory in which a buffer alone, of at most one byte, is tried."""


def alone(problem: Problem, buffer: int) -> Problem:
    """The problem of one buffer that has all of fast memory and the copy engine.

    The rules that are left are those about the buffer itself. It has one byte, or
    none if it had none, may lie anywhere, and is buffer 0.
    """
    program, target = problem.program, problem.target
    fields = program.buffers[buffer]
    steps = tuple(
        replace(
            step,
            accesses=tuple(
                replace(access, buffer=0)
                for access in step.accesses
                if access.buffer == buffer
            ),
            scratch_bytes=0,
            observations=(),
        )
        for step in program.instructions
    )
    size = min(1, fields.size)
    only = Program(
        program.name,
        steps,
        (replace(fields, size=size, offset=None),),
        program.loops,
    )
    space = MemorySpace("fast", 1.0, 1.0, ROOM)
    engine = CopyEngine(ROOM, ROOM, max_slices=1)
    machine = replace(target, spaces=(space, target.slow), copy_engine=engine)
    return Problem(only, machine)


@dataclass(frozen=True, slots=True)
class Stay:
    """An allocation without an offset, and what it does."""

    allocation: Allocation
    held: int
    """The instructions [start, end), as a mask."""
    served: int
    """The instructions whose access it serves, as a mask."""
    at_entry: int = 0
    """The gates at whose loop's entry it is ready, as a mask (``Life.gates``)."""
    at_back: int = 0
    """The gates at whose loop's back edge it is."""
    beyond: int = 0
    """Of those, the gates beyond whose loop it stays."""

    @property
    def start(self) -> int:
        """Its first instruction."""
        return self.allocation.start

    @property
    def takes_over(self) -> int:
        """The gates at which it takes over a place from before the back edge."""
        return self.at_entry & ~self.at_back

    @property
    def hands_on(self) -> int:
        """The gates at which it hands its place on to the loop's entry."""
        return self.at_back & ~self.at_entry

    @property
    def may_matter(self) -> bool:
        """Whether it serves an access, or could hand on or take over a place."""
        return bool(self.served or self.at_entry != self.at_back)


class Life:
    """The accesses of one buffer as masks, and the stays that it may have."""

    def __init__(self, only: Problem) -> None:
        self.only = only
        self.end = len(only.program)
        self.buffer = only.program.buffers[0]
        uses = only.program.uses[0]
        self.uses = sum(1 << use.instruction for use in uses)
        self.whole = sum(1 << u.instruction for u in uses if u.access.whole)
        self.writes = sum(1 << u.instruction for u in uses if u.access.writes)
        self.gates = [x for x in only.program.loops if self._is_live(x)]
        """The loops at whose back edge the buffer holds what is used later."""
        self._ends = sorted(
            {use.instruction + 1 for use in uses}
            | {x for loop in self.gates for x in (loop.start + 1, loop.end)}
            | {min(loop.end + 1, self.end) for loop in self.gates}
        )

    def gates_after(self, point: int) -> int:
        """The loops that end after a point, as a mask."""
        return sum(1 << number for number, x in enumerate(self.gates) if x.end > point)

    def _is_live(self, loop: Loop) -> bool:
        """Whether what the buffer holds at a back edge is used later."""
        inside = self.uses & span(loop.start, loop.end)
        return self._reads(inside) if inside else self._is_live_after(loop)

    def _is_live_after(self, loop: Loop) -> bool:
        """Whether what the buffer holds as a loop is left is used later."""
        around = [x for x in self.only.program.loops if x != loop and x.encloses(loop)]
        outer = around[-1] if around else None
        rest = self.uses & span(loop.end, outer.end if outer else self.end)
        if rest:
            return self._reads(rest)
        if outer is None:
            return self.buffer.is_output
        again = self.uses & span(outer.start, outer.end)
        return self._reads(again) or self._is_live_after(outer)

    def _reads(self, uses: int) -> bool:
        """Whether the first of some uses, if any, depends on what is there."""
        return bool(uses & -uses & ~self.whole)

    def stays(self) -> list[Stay]:
        """All but those that serve nothing at all, by start."""
        if self.buffer.memory is Memory.SLOW or not self.uses:
            return []
        found = [
            stay
            for origin, start, ready in self._begins()
            for allocation in self._ending(origin, start, ready)
            if (stay := self.stay(allocation)).may_matter
        ]
        return sorted(found, key=lambda stay: stay.start)

    def stay(self, allocation: Allocation) -> Stay:
        """What an allocation does."""
        start, end = allocation.start, allocation.end
        served = self.uses & span(allocation.ready, end)
        at_entry, at_back, beyond = 0, 0, 0
        for number, loop in enumerate(self.gates):
            is_back = start < loop.end <= end and (
                allocation.ready < loop.end
                or (allocation.ready == loop.end and loop.start < start)
            )
            at_entry |= (allocation.ready <= loop.start < end) << number
            at_back |= is_back << number
            beyond |= (is_back and loop.end < end) << number
        return Stay(allocation, span(start, end), served, at_entry, at_back, beyond)

    def _begins(self) -> Iterator[tuple[Origin, int, int]]:
        """Origin, start and ready; no prefetch is written while it is copied."""
        for start in range(self.end):
            if self.whole >> start & 1:
                yield Origin.PRODUCED, start, start
            for ready in range(start, self.end + 1):
                if not self.writes & span(start, ready):
                    yield Origin.PREFETCHED, start, ready

    def _ending(self, origin: Origin, start: int, ready: int) -> Iterator[Allocation]:
        for end in range(max(start + 1, ready), self.end + 1):
            if end in self._ends:
                yield Allocation(0, None, start, end, origin, ready)
            for issue in range(max(start + 1, ready), end + 1):
                written = self.writes & span(start, issue)
                if not written or self.writes & span(issue, end):
                    continue
                dues = range(issue, end + 1) if end in self._ends else (end,)
                for due in dues:
                    eviction = Eviction(issue, due)
                    yield Allocation(0, None, start, end, origin, ready, (), eviction)

    def cross_program(self) -> Iterator[tuple[Stay, ...]]:
        """The cross-program prefetch in its two forms, each as one or two stays."""
        origin = Origin.CROSS_PROGRAM
        yield (self.stay(Allocation(0, None, 0, self.end, origin)),)
        for end in self._ends:
            head = self.stay(Allocation(0, None, 0, end, origin))
            if not head.may_matter:
                continue
            for start in range(end, self.end):
                tail = Allocation(0, None, start, self.end, origin, self.end)
                yield head, self.stay(tail)
