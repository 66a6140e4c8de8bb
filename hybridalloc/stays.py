"""Stays: runs of a buffer's accesses that one allocation may serve, and its limits.

Whatever keeps within the limits of its stays, keeps to the rules on loops and on the
validity of slow copies (docs/model.md, Valid maps). The means: an allocation lies
within one loop body, or spans whole loops; a stay that leaves a needed value only in
fast memory is evicted before anything else can ask for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.loops import Loops
from hybridalloc.pins import free
from hybridalloc.problem import Problem
from hybridalloc.program import Loop, Memory, Program

MAX_PAIRS = 16
"""Up to so many accesses, every run of a buffer's accesses is a stay."""
OVERLAP = 4
"""Beyond that, runs of one length begin this many times in that length."""
MAX_CROSS_PROGRAM = 64
"""About the most stays of a buffer that are tried as cross-program prefetches."""


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


class Lifetime:
    """The accesses of one buffer, and the stays that they allow."""

    def __init__(self, program: Program, loops: Loops, buffer: int) -> None:
        self._loops = loops
        self.buffer = buffer
        self._is_output = program.buffers[buffer].is_output
        self._end = len(program)
        self._accesses = [use.access for use in program.uses[buffer]]
        self._points = [use.instruction for use in program.uses[buffer]]
        """The instruction of each access."""
        self._writes = [i for i, x in enumerate(self._accesses) if x.writes]
        """The accesses that write."""

    def __len__(self) -> int:
        return len(self._points)

    def stays(self) -> Iterator[Stay]:
        """Every stay; if there are many accesses, a choice of them."""
        seen = set()
        for first, last in _runs(len(self)):
            for stay in self.stays_of(first, last):
                key = (stay.first, stay.last, stay.body)
                if key not in seen:
                    seen.add(key)
                    yield stay

    def whole(self) -> Iterator[Stay]:
        """The stays of all accesses that XLA can be told of (docs/deploying.md).

        Produced, or prefetched once outside all loops; without an eviction.
        """
        for stay in self.stays_of(0, len(self) - 1) if self._points else ():
            is_whole = (stay.first, stay.last) == (0, len(self) - 1)
            if is_whole and not stay.evicts and (stay.produced or stay.body is None):
                yield stay

    def stays_of(self, first: int, last: int) -> Iterator[Stay]:
        """The stays of these accesses: in the loop around them, or spanning loops."""
        around = self._loops.around_both(self._points[first], self._points[last])
        for body in (*reversed(around), None):
            if stay := self.stay(first, last, body):
                yield stay

    def stay(self, first: int, last: int, body: Loop | None) -> Stay | None:
        """The stay of these accesses in this body, if there is one.

        It spans every loop in the body that it meets, with all the accesses there.
        """
        start, end = self._points[first], self._points[last] + 1
        if inner := self._loops.inner(start, body):
            start = inner.start
            first = bisect_left(self._points, start)
        if spanned := self._loops.inner(end - 1, body):
            end = spanned.end
            last = bisect_left(self._points, end) - 1
        produced = self._accesses[first].whole
        if produced and inner:
            return None  # it would be there in every trip but the first
        if not produced and body and start == body.start:
            return None
        earliest = start if produced else self._earliest(first, body)
        instructions = tuple(self._points[first : last + 1])
        return self._with_eviction(
            Stay(
                self.buffer,
                first,
                last,
                start,
                end,
                body,
                instructions,
                earliest,
                produced,
            )
        )

    def _earliest(self, first: int, body: Loop | None) -> int:
        """The first point of the body after the last write before an access."""
        floor = body.start if body else 0
        before = bisect_left(self._writes, first)
        if not before or self._points[self._writes[before - 1]] < floor:
            return floor
        return self._loops.after(self._points[self._writes[before - 1]], body)

    def _with_eviction(self, stay: Stay) -> Stay | None:
        """The stay with its eviction; nothing if that cannot be."""
        begin = bisect_left(self._writes, stay.first)
        end = bisect_left(self._writes, stay.last + 1)
        if begin == end:
            return stay
        if self._loops.inner(self._points[self._writes[begin]], stay.body):
            return None  # a loop would find the slow copy valid and leave it stale
        needed, deadline = self._needed(stay)
        if not needed:
            return stay
        issue = self._loops.after(self._points[self._writes[end - 1]], stay.body)
        if issue > deadline or (stay.body and issue >= stay.body.end):
            return None
        return replace(stay, issue=issue, deadline=deadline)

    def _needed(self, stay: Stay) -> tuple[bool, int]:
        """Whether its last value is used later, and by when it must be in slow memory.

        Later is: further on, or in the next trip of a loop around it.
        """
        end = stay.body.end if stay.body else self._end
        after = stay.last + 1 if stay.last + 1 < len(self) else None
        if after is not None and self._points[after] < end:
            inner = self._loops.inner(self._points[after], stay.body)
            by = inner.start if inner else self._points[after]
            return not self._accesses[after].whole, by
        for loop in reversed(self._loops.around_body(stay.body)):
            if after is not None and self._points[after] < loop.end:
                break
            again = bisect_left(self._points, loop.start)
            if not self._accesses[again].whole:
                return True, end
        if after is not None:
            return not self._accesses[after].whole, end
        return self._is_output, end


def candidate_stays(problem: Problem, loops: Loops) -> Iterator[Stay]:
    """Every stay of the buffers that may be in fast memory and need not be.

    Of an expressible problem those that XLA can be told of.
    """
    floor = issue_points(problem.program)[0] if problem.expressible else 0
    for buffer in free(problem):
        lifetime = Lifetime(problem.program, loops, buffer)
        if not problem.expressible:
            yield from lifetime.stays()
            continue
        for stay in lifetime.whole():
            yield replace(stay, earliest=max(stay.earliest, floor))


def issue_points(program: Program) -> list[int]:
    """The points at which XLA can be told to issue a prefetch, in order.

    Right after an instruction outside all loops that accesses memory, or after a loop;
    and before the first that does, where all parameters are known. Others are as good
    as the last of these before them.
    """
    working = [t for t, x in enumerate(program.instructions) if x.accesses]
    within = {t for loop in program.loops for t in range(loop.start, loop.end)}
    ends = {loop.end for loop in program.loops} - within
    after = {t + 1 for t in {*working, *ends} - within if t + 1 < len(program)}
    return sorted({*working[:1], *after})


def cross_program_stays(problem: Problem, loops: Loops) -> list[Stay]:
    """Stays from point 0, until each access, of the inputs that may be there then.

    Of an expressible problem those that hold their place until the end.
    """
    stays: list[Stay] = []
    program = problem.program
    for index, buffer in enumerate(program.buffers):
        written = any(use.access.writes for use in program.uses[index])
        if not (buffer.is_input and buffer.cross_program and buffer.size):
            continue
        if buffer.is_output or written or buffer.memory is not Memory.ANY:
            continue
        lifetime = Lifetime(program, loops, index)
        step = -(-len(lifetime) // MAX_CROSS_PROGRAM)
        lasts = {*range(0, len(lifetime), step), len(lifetime) - 1} if step else ()
        found = [lifetime.stay(0, last, None) for last in sorted(lasts)]
        by_last = {stay.last: replace(stay, start=0) for stay in found if stay}
        if not problem.expressible:
            stays += by_last.values()
        elif whole := by_last.get(len(lifetime) - 1):
            stays.append(replace(whole, end=len(program)))
    return stays


def _runs(count: int) -> list[tuple[int, int]]:
    """Which runs of so many accesses to consider, as (first, last), in order."""
    if count <= MAX_PAIRS:
        return [(i, j) for i in range(count) for j in range(i, count)]
    runs = {(0, count - 1)}
    length = 1
    while length < count:
        step = max(1, length // OVERLAP)
        firsts = (*range(0, count - length, step), count - length)
        runs.update((first, first + length - 1) for first in firsts)
        length *= 2
    return sorted(runs)
