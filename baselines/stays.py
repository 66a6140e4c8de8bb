"""Stays: runs of a buffer's accesses that one allocation may serve, and its limits.

Whatever keeps within the limits of its stays, keeps to the rules on loops and on the
validity of slow copies (docs/model.md, Valid maps). The means: an allocation lies
within one loop body, or spans whole loops; a stay that leaves a needed value only in
fast memory is evicted before anything else can ask for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.program import Loop, Memory, Program, Use

MAX_PAIRS = 16
"""Up to so many accesses, every run of a buffer's accesses is a stay."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Accesses of one buffer that are served from fast memory by one allocation."""

    buffer: int
    first: int
    """Its first access, as an index into the buffer's uses."""
    last: int
    """Its last access."""
    start: int
    """The point from which it must be in fast memory."""
    end: int
    """The point until which it must be in fast memory."""
    body: Loop | None
    """The innermost loop that it lies in, without spanning it."""
    instructions: tuple[int, ...]
    """Those of its accesses."""
    earliest: int
    """The first point at which its prefetch may be issued; ``start`` if produced."""
    produced: bool
    issue: int = -1
    """The first point at which its eviction may be issued; -1 if it needs none."""
    deadline: int = -1
    """The last point at which its eviction may be due."""

    @property
    def evicts(self) -> bool:
        """Whether the slow copy must be made valid again."""
        return self.issue >= 0


class Lifetimes:
    """The stays that the buffers of a program may have."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._around: list[tuple[Loop, ...]] = [()] * (len(program) + 1)
        for loop in program.loops:
            for t in range(loop.start, loop.end):
                self._around[t] = (*self._around[t], loop)

    def stays(self, buffer: int) -> Iterator[Stay]:
        """Every stay of a buffer; of one with many accesses, a choice of them."""
        seen = set()
        for first, last in _runs(len(self.program.uses[buffer])):
            for stay in self.stays_of(buffer, first, last):
                key = (stay.first, stay.last, stay.body)
                if key not in seen:
                    seen.add(key)
                    yield stay

    def stays_of(self, buffer: int, first: int, last: int) -> Iterator[Stay]:
        """The stays of these accesses: in the loop around them, or spanning loops."""
        uses = self.program.uses[buffer]
        around = self._common(uses[first], uses[last])
        for depth in range(len(around), -1, -1):
            if stay := self.stay(buffer, first, last, around[:depth]):
                yield stay

    def stay(
        self, buffer: int, first: int, last: int, around: tuple[Loop, ...]
    ) -> Stay | None:
        """The stay of these accesses within these loops, outer first, if there is one.

        It spans every other loop that it meets, with all the accesses there.
        """
        uses, depth = self.program.uses[buffer], len(around)
        body = around[-1] if around else None
        start, end = uses[first].instruction, uses[last].instruction + 1
        if inner := self._around[start][depth:]:
            start = inner[0].start
            while first > 0 and uses[first - 1].instruction >= start:
                first -= 1
        if inner := self._around[end - 1][depth:]:
            end = inner[0].end
            while last + 1 < len(uses) and uses[last + 1].instruction < end:
                last += 1
        produced = uses[first].access.whole
        if produced and start < uses[first].instruction:
            return None
        if produced and self._around[start][depth:]:
            return None
        if not produced and body and start == body.start:
            return None
        earliest = start if produced else self._earliest(uses[:first], body)
        instructions = tuple(use.instruction for use in uses[first : last + 1])
        return self._with_eviction(
            Stay(
                buffer, first, last, start, end, body, instructions, earliest, produced
            )
        )

    def trips(self, body: Loop | None) -> float:
        """How often the body runs in one run of the program; 1 outside loops."""
        around = self._around[body.start][: self._depth(body)] if body else ()
        return float(math.prod(loop.trip_count for loop in around))

    def before_loops(self, point: int, stay: Stay) -> int:
        """The point, or the start of the loop that it lies in and the stay does not."""
        loop = self._foreign(point, stay.body)
        return loop.start if loop else point

    def after_loops(self, point: int, stay: Stay) -> int:
        """The point, or the end of the loop that it lies in and the stay does not."""
        loop = self._foreign(point, stay.body)
        return loop.end if loop else point

    def _foreign(self, point: int, body: Loop | None) -> Loop | None:
        """The outermost loop strictly around the point that is not around the body."""
        for loop in self._around[point]:
            if loop.start < point and not (body and loop.encloses(body)):
                return loop
        return None

    def _common(self, one: Use, other: Use) -> tuple[Loop, ...]:
        """The loops around both uses, outer first."""
        outer = self._around[one.instruction]
        return tuple(x for x in outer if x in self._around[other.instruction])

    def _depth(self, body: Loop | None) -> int:
        return self._around[body.start].index(body) + 1 if body else 0

    def _after(self, t: int, body: Loop | None) -> int:
        """The first point in the body after the loop that holds ``t``, or after it."""
        inner = self._around[t][self._depth(body) :]
        return inner[0].end if inner else t + 1

    def _earliest(self, before: tuple[Use, ...], body: Loop | None) -> int:
        """The first point after the last write before it."""
        floor = body.start if body else 0
        for use in reversed(before):
            if use.instruction < floor:
                break
            if use.access.writes:
                return self._after(use.instruction, body)
        return floor

    def _with_eviction(self, stay: Stay) -> Stay | None:
        """The stay with its eviction; nothing if that cannot be."""
        uses = self.program.uses[stay.buffer][stay.first : stay.last + 1]
        writes = [use.instruction for use in uses if use.access.writes]
        if not writes:
            return stay
        if self._around[writes[0]][self._depth(stay.body) :]:
            return None  # a loop would find the slow copy valid and leave it stale
        needed, deadline = self._needed(stay)
        if not needed:
            return stay
        issue = self._after(writes[-1], stay.body)
        if issue > deadline or (stay.body and issue >= stay.body.end):
            return None
        return replace(stay, issue=issue, deadline=deadline)

    def _needed(self, stay: Stay) -> tuple[bool, int]:
        """Whether its last value is used later, and by when it must be in slow memory.

        Later is: further on, or in the next trip of a loop around it.
        """
        uses, body = self.program.uses[stay.buffer], stay.body
        end = body.end if body else len(self.program)
        after = uses[stay.last + 1] if stay.last + 1 < len(uses) else None
        if after and after.instruction < end:
            inner = self._around[after.instruction][self._depth(body) :]
            by = inner[0].start if inner else after.instruction
            return not after.access.whole, by
        around = self._around[body.start][: self._depth(body)] if body else ()
        for loop in reversed(around):
            if after and after.instruction < loop.end:
                break
            again = next(use for use in uses if use.instruction >= loop.start)
            if not again.access.whole:
                return True, end
        if after:
            return not after.access.whole, end
        return self.program.buffers[stay.buffer].is_output, end


def cross_program_stays(lifetimes: Lifetimes) -> list[Stay]:
    """Stays from point 0, until each access, of the inputs that may be there then."""
    program = lifetimes.program
    stays: list[Stay] = []
    for index, buffer in enumerate(program.buffers):
        uses = program.uses[index]
        written = any(use.access.writes for use in uses)
        if not (buffer.is_input and buffer.cross_program and buffer.size):
            continue
        if buffer.is_output or written or buffer.memory is not Memory.ANY:
            continue
        found = [lifetimes.stay(index, 0, i, ()) for i in range(len(uses))]
        by_last = {stay.last: replace(stay, start=0) for stay in found if stay}
        stays += by_last.values()
    return stays


def _runs(count: int) -> Iterator[tuple[int, int]]:
    """Which runs of so many accesses to consider, as (first, last)."""
    for first in range(count):
        if count <= MAX_PAIRS:
            yield from ((first, last) for last in range(first, count))
            continue
        length = 1
        while first + length < count:
            yield first, first + length - 1
            length += length if length > 1 else 1
        yield first, count - 1
