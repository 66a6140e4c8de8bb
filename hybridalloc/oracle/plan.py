"""What the execution oracle does when: a memory map laid out in words and points."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate

from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Loop

MAX_WORDS = 2**24
"""Where one word for each alignment unit would need more, words are larger."""
MOST_WORDS = 2**26
"""More are not laid out: each takes 8 bytes, several times."""


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """A copy between the words [first, last) of a buffer and fast memory."""

    buffer: int
    first: int
    last: int
    place: int
    """The word of fast memory that goes with the buffer's word ``first``."""
    is_eviction: bool


class Stage(IntEnum):
    """What happens at one point of one body, in this order."""

    ARRIVE = 0
    """A copy that was issued at an earlier point finishes."""
    EVICT = 1
    EVICTED = 2
    """An eviction that was issued at this point finishes."""
    FETCH = 3
    FETCHED = 4
    """A prefetch that was issued at this point finishes."""

    @property
    def issues(self) -> bool:
        """Whether the copy begins here."""
        return self in (Stage.EVICT, Stage.FETCH)


def unusable(problem: Problem, allocation: Allocation) -> str:
    """Why the allocation cannot be laid out in memory and time; empty if it can."""
    program, target = problem.program, problem.target
    if allocation.buffer >= len(program.buffers):
        return f"buffer {allocation.buffer} is not in [0, {len(program.buffers)})"
    if allocation.end > len(program):
        return f"its end {allocation.end} is after the program's {len(program)}"
    if allocation.offset is None:
        return "it has no offset"
    size = program.buffers[allocation.buffer].size
    if allocation.offset + size > target.capacity:
        return (
            f"[{allocation.offset}, {allocation.offset + size}) ends after the "
            f"capacity of {target.capacity} bytes"
        )
    cuts = _cuts(allocation)
    if cuts and cuts[-1] != size:
        return f"its slices add up to {cuts[-1]} of {size} bytes"
    for place in (allocation.offset, *cuts[:-1]):
        if place % target.fast.alignment:
            return f"{place} is not a multiple of {target.fast.alignment}"
    return ""


class Plan:
    """What a map means for each point and each access, in words.

    Every allocation must be usable.

    Raises:
        UsageError: There are more than ``MOST_WORDS`` words.
    """

    def __init__(self, problem: Problem, memory_map: MemoryMap) -> None:
        self.program = problem.program
        self.word_bytes = _word_bytes(problem, memory_map)
        self.capacity = self.words(_top(problem, memory_map))
        """The words of fast memory up to the last one that the map uses."""
        self.sizes = [self.words(buffer.size) for buffer in self.program.buffers]
        _check_words(self.capacity + sum(self.sizes), self.word_bytes)
        self.serving: dict[tuple[int, int], Allocation] = {}
        """The allocation that serves an access, by (instruction, buffer)."""
        self.produced: dict[int, list[Allocation]] = defaultdict(list)
        """By the instruction that writes them."""
        self.kept: list[Allocation] = []
        """What the previous run left in fast memory."""
        self.copies: dict[tuple[int, Loop | None], list[tuple[Stage, Copy]]]
        """What is issued and what finishes, by point and body."""
        self.copies = defaultdict(list)
        self.reserved = [  # from the first word that begins in the range
            (self.words(low), self.words(high))
            for low, high in problem.target.fast.reserved
        ]
        for allocation in memory_map.allocations:
            self._serve(allocation)
            self._fill(allocation)
            if allocation.eviction:
                span = (allocation.eviction.issue, allocation.eviction.due)
                words = (0, self.sizes[allocation.buffer])
                self._copy(allocation, words, span, is_eviction=True)
        for happening in self.copies.values():
            happening.sort(key=lambda event: event[0])

    def words(self, size: int) -> int:
        """How many words hold this many bytes."""
        return -(-size // self.word_bytes)

    def place(self, allocation: Allocation) -> int:
        """The first word of fast memory that the allocation occupies."""
        assert allocation.offset is not None  # usable
        return allocation.offset // self.word_bytes

    def disturbed(self, t: int) -> list[tuple[int, int]]:
        """The words of fast memory that others overwrite while ``t`` runs."""
        scratch = self.words(self.program.instructions[t].scratch_bytes)
        return [*self.reserved, (0, scratch)] if scratch else self.reserved

    def _serve(self, allocation: Allocation) -> None:
        for use in self.program.uses[allocation.buffer]:
            if allocation.ready <= use.instruction < allocation.end:
                served = (use.instruction, allocation.buffer)
                longest = self.serving.setdefault(served, allocation)
                if allocation.ready < longest.ready:
                    self.serving[served] = allocation

    def _fill(self, allocation: Allocation) -> None:
        if allocation.origin is Origin.PRODUCED:
            self.produced[allocation.start].append(allocation)
        elif not allocation.has_copy:
            self.kept.append(allocation)
        elif not allocation.slices:
            words = (0, self.sizes[allocation.buffer])
            self._copy(allocation, words, (allocation.start, allocation.ready))
        first = 0
        for cut, piece in zip(_cuts(allocation), allocation.slices, strict=True):
            words = (first, self.words(cut))
            self._copy(allocation, words, (piece.issue, allocation.ready))
            first = words[1]

    def _copy(
        self,
        allocation: Allocation,
        words: tuple[int, int],
        span: tuple[int, int],
        *,
        is_eviction: bool = False,
    ) -> None:
        issue, due = span
        place = self.place(allocation) + words[0]
        copy = Copy(allocation.buffer, *words, place, is_eviction)
        begin = Stage.EVICT if is_eviction else Stage.FETCH
        finish = Stage(begin + 1) if issue == due else Stage.ARRIVE
        loops = self.program.loops
        self.copies[issue, _body(loops, issue, due)].append((begin, copy))
        self.copies[due, _body(loops, due, issue)].append((finish, copy))


def _cuts(allocation: Allocation) -> list[int]:
    """Where in the buffer each of the slices ends, in bytes."""
    return list(accumulate(piece.size for piece in allocation.slices))


def _word_bytes(problem: Problem, memory_map: MemoryMap) -> int:
    """How many bytes a word stands for; it divides each offset and slice border."""
    alignment = problem.target.fast.alignment
    top = _top(problem, memory_map)
    sizes = [top, *(buffer.size for buffer in problem.program.buffers)]
    if sum(sizes) <= MAX_WORDS * alignment:
        return alignment
    places = [0]
    for allocation in memory_map.allocations:
        places += [allocation.offset or 0, *_cuts(allocation)[:-1]]
    return math.gcd(*places) or max(sizes)


def _top(problem: Problem, memory_map: MemoryMap) -> int:
    """The byte after the last one of fast memory that the map uses."""
    buffers = problem.program.buffers
    ends = [
        x.offset + buffers[x.buffer].size
        for x in memory_map.allocations
        if x.offset is not None
    ]
    return max(ends, default=0)


def _check_words(count: int, word_bytes: int) -> None:
    """Refuse what does not fit in memory."""
    if count > MOST_WORDS:
        raise UsageError(
            f"the oracle would need {count} words of {word_bytes} bytes, more than "
            f"{MOST_WORDS}; check a map whose offsets and slices are multiples of a "
            f"larger unit, or do without the oracle"
        )


def _body(loops: Iterable[Loop], point: int, other: int) -> Loop | None:
    """The innermost loop whose body one end of a copy belongs to.

    >>> loop = Loop(2, 5, trip_count=3)
    >>> _body([loop], 2, 4) == loop, _body([loop], 2, 5)
    (True, None)
    """
    found = None
    for loop in loops:  # outer loops first
        border = point in (loop.start, loop.end) and loop.start < other < loop.end
        if loop.start < point < loop.end or border:
            found = loop
    return found
