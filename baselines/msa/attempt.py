"""One try to allocate a buffer: XLA's decision for each of its uses."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.baselines.msa.assignment import Assignment, Failure
from hybridalloc.baselines.msa.copy_resource import AsyncCopy, CopyResource
from hybridalloc.baselines.msa.lifetimes import Level, Use
from hybridalloc.baselines.msa.piece import Piece
from hybridalloc.baselines.msa.prefetch import Wish, find_prefetch
from hybridalloc.cost_model import elapsed
from hybridalloc.memory_map import Eviction
from hybridalloc.program import Loop


@dataclass(slots=True)
class _Value:
    """A value of the buffer, and where it is."""

    defined: int
    """Time at which it is there: of its definition, or its last change."""
    previous: int
    """Time of its last use so far."""
    first: int = -1
    """The access that defines it as a whole; -1 if none does."""
    slow_since: int | None = None
    """Time from which its slow copy is valid, if it is."""
    piece: int | None = None
    """The number of the piece that it is in, if it is in fast memory."""

    @property
    def is_unplaced(self) -> bool:
        """Whether neither memory has been chosen for it yet."""
        return self.slow_since is None and self.piece is None


class Attempt:
    """One try; what it assigns can be undone.

    Source: openxla/xla, ``MsaAlgorithm::AllocateSegment`` and what it calls, in
    ``memory_space_assignment/algorithm.cc``.
    """

    def __init__(
        self, shared: Assignment, buffer: int, retry: int, slow: frozenset[int]
    ) -> None:
        self._shared = shared
        self._buffer = buffer
        self._size = shared.problem.program.buffers[buffer].size
        self._retry = retry
        self._slow = slow
        self._copies: list[tuple[CopyResource, AsyncCopy]] = []
        self.numbers: list[int] = []
        """The pieces that it put into the heap."""
        self._stays: dict[Loop | None, tuple[memoryview[int], list[int]]] = {}
        """For each loop body: when each use ends, and how far each may stay."""
        self.failures = Failure.NONE

    def succeeds(self) -> bool:
        """Decide each use; false if what was decided before turns out impossible."""
        return self._allocate(self._shared.lifetimes.top(self._buffer))

    def undo(self) -> None:
        """Free all that it assigned."""
        for resource, copy in self._copies:
            resource.remove(copy)
        for number in self.numbers:
            self._shared.heap.remove(number)

    def pieces(self) -> Iterator[Piece]:
        """What it assigned."""
        return (self._shared.heap.pieces[number] for number in self.numbers)

    def _allocate(self, level: Level) -> bool:
        value = _Value(level.start, level.start, slow_since=level.start)
        for position, use in enumerate(level.uses):
            if use.defines:
                value = _Value(use.start, use.start, first=use.first)
            elif not self._serve(level, value, position):
                return False
        return level.end is None or self._make_slow(value, level.end, level)

    def _serve(self, level: Level, value: _Value, position: int) -> bool:
        use = level.uses[position]
        is_fast = None
        if use.first not in self._slow:
            is_fast = self._serve_fast(level, value, position)
            if is_fast is None:
                return False
        elif not self._make_slow(value, use.due, level):
            return False
        if not is_fast:
            value.piece = None
            if use.loop:
                inner = self._shared.lifetimes.level(self._buffer, use.loop)
                if not self._allocate(inner):
                    return False
        value.previous = use.end
        if use.writes:
            value.defined = use.end
            value.slow_since = None if is_fast else use.end
        return True

    def _serve_fast(self, level: Level, value: _Value, position: int) -> bool | None:
        """Serve a use from fast memory if it can be; None if from neither."""
        use = level.uses[position]
        leaves_stale = use.loop is not None and use.writes
        failures = Failure.NONE
        if not (leaves_stale and value.slow_since is not None):
            kept, failures = self._keep(level, value, position)
            if kept:
                return True
        if not self._make_slow(value, use.due, level):
            return None
        if not leaves_stale:
            failure = self._prefetch(level, value, position)
            if failure is None:
                return True
            failures |= failure
        self.failures |= failures
        return False

    def _keep(self, level: Level, value: _Value, position: int) -> tuple[bool, Failure]:
        """Serve a use without a copy, if the value is, or may be, where it was made."""
        use, may_stay = level.uses[position], self._shared.picker.may_stay
        produced = value.is_unplaced and value.first not in self._slow
        if value.piece is None and not produced:
            return False, Failure.NONE
        if not may_stay(value.previous, use.start):
            return False, Failure.NONE
        if value.piece is None:
            kept = self._produce(level, value, position)
        else:
            kept = self._extend(value.piece, use)
        return kept, Failure.NONE if kept else Failure.OUT_OF_MEMORY

    def _extend(self, number: int, use: Use) -> bool:
        """Keep a piece where it is, if its place is free until the use is over."""
        heap = self._shared.heap
        piece = heap.pieces[number]
        if heap.free_until(piece, use.end) < use.end:
            return False
        heap.replace(number, replace(piece, end=use.end, last=use.last))
        return True

    def _produce(self, level: Level, value: _Value, position: int) -> bool:
        """Have a value written to fast memory, if there is a place."""
        ends, start = self._ends(level, position), value.defined
        offset = self._shared.heap.best_fit(self._buffer, [(self._size, start)], ends)
        if offset is None:
            return False
        use = level.uses[position]
        value.piece = self._put(
            Piece(self._buffer, offset, start, use.end, value.first, use.last)
        )
        return True

    def _put(self, piece: Piece) -> int:
        number = self._shared.heap.put(piece)
        self.numbers.append(number)
        return number

    def _ends(self, level: Level, position: int) -> memoryview[int]:
        """Until when a piece would stay if no copies were needed later."""
        if level.body not in self._stays:
            ends = memoryview(array("q", [use.end for use in level.uses]))
            self._stays[level.body] = ends, self._stops(level)
        ends, stops = self._stays[level.body]
        return ends[position : stops[position]]

    def _stops(self, level: Level) -> list[int]:
        """For each use, the first behind it that a piece there may not wait for."""
        uses, may_stay = level.uses, self._shared.picker.may_stay
        stops = list(range(1, len(uses) + 1))
        for i in reversed(range(len(uses) - 1)):
            following = uses[i + 1]
            if not following.defines and may_stay(uses[i].end, following.start):
                stops[i] = stops[i + 1]
        return stops

    def _make_slow(self, value: _Value, limit: int, level: Level) -> bool:
        """Have the slow copy valid by a time."""
        if value.is_unplaced:
            value.slow_since = value.defined
        return value.slow_since is not None or self._evict(value, limit, level)

    def _evict(self, value: _Value, limit: int, level: Level) -> bool:
        assert value.piece is not None
        shared, piece = self._shared, self._shared.heap.pieces[value.piece]
        start, last = value.defined, min(limit, len(shared.problem.program) - 1)
        end = shared.picker.eviction_end(self._size, start, last, self._retry)
        end = shared.heap.free_until(piece, min(max(end, piece.end), last))
        due = shared.loops.outside_before(end, level.body)
        if due < piece.end:  # which is in that loop too
            due = shared.loops.outside_after(end, level.body)
        is_last = self._retry == shared.options.max_retries - 1
        seconds = 0.0 if is_last else shared.picker.copy_s(self._size)
        copy = (start, due, seconds)
        if not start < due <= limit or not (
            shared.evictions.may_overlap(1, start, due) and shared.evictions.fits(copy)
        ):
            self.failures |= Failure.OUT_OF_COPIES
            return False
        self._copy(shared.evictions, copy)
        end, eviction = max(piece.end, due - 1), Eviction(start + 1, due)
        shared.heap.replace(value.piece, replace(piece, end=end, eviction=eviction))
        value.slow_since, value.piece = due, None
        return True

    def _copy(self, resource: CopyResource, copy: AsyncCopy) -> None:
        resource.add(copy)
        self._copies.append((resource, copy))

    def _prefetch(self, level: Level, value: _Value, position: int) -> Failure | None:
        """Serve a use by a copy from slow memory; otherwise say why not."""
        use = level.uses[position]
        found = find_prefetch(self._shared, self._wish(level, value, position))
        if isinstance(found, Failure):
            return found
        for copy in found.copies:
            self._copy(self._shared.prefetches, copy)
        value.piece = self._put(
            Piece(
                self._buffer,
                found.offset,
                found.start,
                use.end,
                use.first,
                use.last,
                ready=use.start,
                slices=found.slices,
            )
        )
        return None

    def _wish(self, level: Level, value: _Value, position: int) -> Wish:
        assert value.slow_since is not None
        use = level.uses[position]
        extra = self._shared.options.while_use_extra_outstanding_prefetch_limit
        return Wish(
            buffer=self._buffer,
            earliest=value.slow_since,
            end=use.due,
            keep=self._ends(level, position),
            body=level.body,
            saved=0.0 if use.loop else self._saved(use),
            extra=extra if use.loop else 0,
        )

    def _saved(self, use: Use) -> float:
        """Seconds that the instruction of a use is faster for it."""
        shared = self._shared
        faster = elapsed(shared.problem, use.start, (self._buffer,))
        return float(shared.picker.elapsed[use.start]) - faster
