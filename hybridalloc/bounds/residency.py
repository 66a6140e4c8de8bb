"""The rows of one buffer: where it may be, and which copies that takes.

Its life is laid out in ``timeline``. With ``k`` for a node and for the segment before
it, every column is 0 or 1:

- ``fast[k]``: held in fast memory at node k, ready to serve it;
- ``kept[k]``: held throughout segment k, from node to node;
- ``fetched[k]``: a prefetch is due in segment k, and serves node k;
- ``evicted[k]``: a stay ends in segment k, and an eviction is due there;
- ``saved[k]``: an eviction is due in segment k, and the stay goes on;
- ``chosen``: the buffer has the cross-program prefetch;
- ``copied``: that of the next run is copied at the end, or
- ``tail``: it is held after the last node, as all the time before.

Valid maps that do needless things have no place here, but each has a counterpart
that takes no longer and holds no more: without allocations that serve nothing and
evictions that nobody needs; without a copy of what another allocation holds
meanwhile; with each prefetch due only where it is first needed, and with a
cross-program prefetch only of what is then served at its first access; with each
eviction due where its stay ends, or at the last node before that in its own body, if
the stay enters or leaves a loop meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hybridalloc.arrays import Ints
from hybridalloc.bounds.copies import Copies
from hybridalloc.bounds.linear_program import Builder
from hybridalloc.bounds.resources import FastMemory
from hybridalloc.bounds.space import units
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Loop, Memory
from hybridalloc.timeline import Kind, Segment, Timeline


@dataclass(frozen=True, slots=True)
class Stay:
    """A column that is 1 only if so much is held during the instructions [low, high).

    No two stays of one buffer hold anything at one instruction.
    """

    buffer: int
    column: int
    units: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Context:
    """What the buffers of one relaxation share."""

    builder: Builder
    problem: Problem
    loops: Loops
    free: Ints
    """(T,): units of fast memory that allocations may take."""
    served: dict[tuple[int, int], int]
    """The column of each access that may be fast, by instruction and buffer."""
    copies: Copies
    memory: FastMemory
    cross_program: int
    """The row that counts cross-program prefetches."""


def relax_buffer(context: Context, buffer: int) -> tuple[Stay, ...]:
    """Add the columns and rows of a buffer: its stays."""
    program, target = context.problem.program, context.problem.target
    size = units(program.buffers[buffer].size, target.fast.alignment)
    memory = program.buffers[buffer].memory
    fits = size <= context.free.max() or memory is Memory.FAST
    if memory is Memory.SLOW or not fits or not program.uses[buffer]:
        return ()
    residency = _Residency(context, buffer)
    residency.slow_copies()
    residency.cross_program()
    return tuple(residency.stays)


class _Residency:
    def __init__(self, context: Context, buffer: int) -> None:
        problem = context.problem
        self._context, self._builder = context, context.builder
        self._index, self._buffer = buffer, problem.program.buffers[buffer]
        self._engine = problem.target.copy_engine
        self._units = units(self._buffer.size, problem.target.fast.alignment)
        self._line = Timeline(problem.program, context.loops, buffer)
        self._end = len(problem.program)
        self.stays: list[Stay] = []
        self._entered: dict[Loop, int] = {}
        """What is held at the entries of loops across which the buffer is live."""
        self._chosen = self._choose()
        nodes = range(len(self._line.nodes))
        self._fast = list(self._serve(buffer))
        self._kept = [self._keep(k) for k in nodes]
        self._fetched = [self._fetch(k) for k in nodes]
        for k in nodes:
            self._fast_if_held(k)
        self._evicted = [self._evict(k) for k in range(len(self._line.segments))]
        self._saved = [self._save(k) for k in nodes]

    def _choose(self) -> int | None:
        """Inputs that nobody changes, few of them (the rule ``cross_program``)."""
        buffer, nodes = self._buffer, self._line.nodes
        changes = buffer.is_output or any(node.writes for node in nodes)
        if not buffer.is_input or changes:
            return None
        chosen = self._builder.choice()
        self._builder.add(self._context.cross_program, chosen, 1.0)
        return chosen

    def _serve(self, buffer: int) -> Iterator[int | None]:
        """What is live across a back edge and at the loop's entry is there at its exit.

        That is the rule ``loop_state``: ``fast[entry] <= fast[exit]``. The other way
        round, a stay that ends just at the exit need not be there at the entry; it
        goes no further, but to the exit of a loop that ends there too. What is not
        live is not needed at the entry.
        """
        for node in self._line.nodes:
            if node.loop is None:
                column = self._context.served.get((node.point, buffer))
                if column is not None:
                    self._hold(column, node.point, node.point + 1)
                yield column
            elif node.kind is Kind.EXIT:
                left = self._builder.choice()
                if node.loop in self._entered:
                    entered = self._entered[node.loop]
                    self._builder.row([(entered, 1.0), (left, -1.0)], high=0.0)
                yield left
            elif self._line.live_across(node.loop):
                self._entered[node.loop] = self._builder.choice()
                yield self._entered[node.loop]
            else:
                yield None

    def _keep(self, k: int) -> int | None:
        """Held through a segment: ``kept[k] <= fast[k - 1]``.

        After the exit of a loop across which it is live, what is held was there at its
        entry, unless another loop ends there too.
        From the start of the program it is held only by the cross-program prefetch.
        Before a node that needs nothing of what the buffer held, nothing is kept.
        """
        segment = self._line.segments[k]
        if self._fast[k] is None or self._line.nodes[k].whole:
            return None
        before = self._goes_on(k - 1) if k else self._chosen
        if before is None or not self._fits(segment):
            return None
        kept = before
        if k:
            kept = self._builder.choice()
            self._builder.row([(kept, 1.0), (before, -1.0)], high=0.0)
        self._hold(kept, segment.low, segment.high)
        return kept

    def _goes_on(self, k: int) -> int | None:
        """The column of what is held at a node and may be held beyond it."""
        node, after = self._line.nodes[k], self._line.nodes[k + 1]
        ends_too = after.kind is Kind.EXIT and after.point == node.point
        if node.kind is Kind.EXIT and node.loop in self._entered and not ends_too:
            return self._entered[node.loop]
        return self._fast[k]

    def _fetch(self, k: int) -> int | None:
        node, segment = self._line.nodes[k], self._line.segments[k]
        if self._fast[k] is None or node.whole:
            return None
        if self._engine.max_outstanding_prefetches == 0:
            return None
        fetched = self._builder.choice()
        self._context.copies.prefetch(
            fetched,
            self._buffer.size,
            self._line.copies_from(k),
            node.point,
            segment.body,
        )
        return fetched

    def _fast_if_held(self, k: int) -> None:
        """``fast[k] = kept[k] + fetched[k]``, unless the access produces the buffer."""
        fast = self._fast[k]
        if fast is None or self._line.nodes[k].whole:
            return
        ways = [x for x in (self._kept[k], self._fetched[k]) if x is not None]
        entries = [(fast, 1.0), *((x, -1.0) for x in ways)]
        self._builder.row(entries, low=0.0, high=0.0)

    def _evict(self, k: int) -> int | None:
        """A stay ends in segment k: ``evicted[k] + kept[k] <= fast[k - 1]``."""
        before = self._fast[k - 1] if k else None
        if before is None or not self._may_evict(k):
            return None
        evicted = self._builder.choice()
        kept = self._kept[k] if k < len(self._kept) else None
        entries = [(evicted, 1.0), (before, -1.0)]
        if kept is not None:
            entries.append((kept, 1.0))
        self._builder.row(entries, high=0.0)
        self._context.copies.evict(
            evicted,
            self._buffer.size,
            self._line.copies_from(k),
            self._line.segments[k],
        )
        return evicted

    def _save(self, k: int) -> int | None:
        """A stay goes on beyond a gate, evicted before it: ``saved[k] <= kept[k]``."""
        kept = self._kept[k]
        if kept is None or self._line.nodes[k].loop is None or not self._may_evict(k):
            return None
        saved = self._builder.choice()
        self._builder.row([(saved, 1.0), (kept, -1.0)], high=0.0)
        self._context.copies.save(
            saved,
            self._buffer.size,
            self._line.copies_from(k),
            self._line.segments[k],
        )
        return saved

    def _may_evict(self, k: int) -> bool:
        most = self._engine.max_outstanding_evictions
        return most > 0 and self._line.may_evict(k)

    def slow_copies(self) -> None:
        """What is read in slow memory or copied from there is valid there.

        After a write in fast memory that takes an eviction between the two (the rules
        ``stale_read``, ``stale_prefetch`` and ``output``). For each write that may
        come last before node k, ``needed[k] + fast[write] - 1 <= sum(evicted + saved)``
        over the segments between: an access needs the slow copy unless ``kept[k]``, a
        gate if ``fetched[k]``.
        """
        for k, node in enumerate(self._line.nodes):
            if node.whole:
                continue
            if node.kind is Kind.ACCESS:
                kept = self._kept[k]
                self._slow_copy(k, [] if kept is None else [(kept, -1.0)], 0.0)
            elif (fetched := self._fetched[k]) is not None:
                self._slow_copy(k, [(fetched, 1.0)], 1.0)
        if self._buffer.is_output:
            self._slow_copy(len(self._line.nodes), [], 0.0)

    def _slow_copy(self, k: int, need: list[tuple[int, float]], high: float) -> None:
        for reach in self._line.reaching(k):
            written = None if reach.write is None else self._fast[reach.write]
            if written is None:
                continue
            copies = [self._evicted[segment] for segment in reach.segments]
            copies += [self._saved[x] for x in reach.segments if x < len(self._saved)]
            entries = [(written, 1.0), *need]
            entries += [(x, -1.0) for x in copies if x is not None]
            self._builder.row(entries, high=high)

    def cross_program(self) -> None:
        """At the end of the run the next one finds what it starts with.

        Either it is held all the time, ``tail <= kept[k]`` for all k, or a copy is
        due at the end: ``chosen <= tail + copied``.
        """
        chosen, builder = self._chosen, self._builder
        if chosen is None:
            return
        nodes, segments = self._line.nodes, self._line.segments
        copied = builder.choice()
        entries = [(copied, 1.0), (chosen, -1.0)]
        first = nodes[0].point + (nodes[0].loop is None)
        self._context.copies.prefetch(copied, self._buffer.size, first, self._end, None)
        kept = [x for x in self._kept if x is not None]
        last = self._fast[-1]
        if len(kept) == len(nodes) and last is not None and self._fits(segments[-1]):
            tail = builder.choice()
            entries.append((tail, 1.0))
            for x in (*kept, last):
                builder.row([(tail, 1.0), (x, -1.0)], high=0.0)
            self._hold(tail, segments[-1].low, segments[-1].high)
        builder.row(entries, low=0.0)

    def _fits(self, segment: Segment) -> bool:
        free = self._context.free[segment.low : segment.high]
        return free.size == 0 or bool(self._units <= free.min())

    def _hold(self, column: int, low: int, high: int) -> None:
        self.stays.append(Stay(self._index, column, self._units, low, high))
        self._context.memory.hold(column, float(self._units), low, high)
