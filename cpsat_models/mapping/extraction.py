"""From the values of the literals to allocations, which have no offsets yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from hybridalloc.allocating import queue_key
from hybridalloc.cpsat_models.mapping.variables import (
    CopyVariables,
    LifeVariables,
    Lit,
    Variables,
)
from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.timeline import Kind

Values = Callable[[Lit], bool]
"""Whether a literal is true in a solution."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a stay in time: the literals by which it takes its space then."""

    start: int
    end: int
    literals: tuple[Lit, ...]


@dataclass
class Stay:
    """An allocation without an offset."""

    buffer: int
    start: int
    origin: Origin
    ready: int
    pieces: list[Piece]
    """One after the other, from the start to the end. Any run of them is at one offset
    in every solution in which their literals are true."""
    eviction: Eviction | None = None
    number: int = -1
    """Its index among all of a solution."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.pieces[-1].end

    def allocation(self) -> Allocation:
        """Without an offset."""
        place = None, self.start, self.end
        return Allocation(
            self.buffer, *place, self.origin, self.ready, eviction=self.eviction
        )


@dataclass
class Draft:
    """The stays of a solution, and which of them must be at the same offset."""

    stays: list[Stay] = field(default_factory=list)
    together: list[list[int]] = field(default_factory=list)
    """Indices of stays that share a place."""


def extract(variables: Variables, values: Values) -> Draft:
    """The stays of all buffers, in the order of a map."""
    found: list[Stay] = []
    bonds: list[list[Stay]] = []
    for life in variables.lives:
        reader = _Reader(variables, life, values)
        reader.read()
        found += reader.stays
        bonds += reader.bonds
    found.sort(key=lambda stay: queue_key(stay.allocation()))
    for number, stay in enumerate(found):
        stay.number = number
    return Draft(found, [[stay.number for stay in bond] for bond in bonds])


class _Reader:
    """Walks along the life of one buffer."""

    def __init__(
        self, variables: Variables, life: LifeVariables, values: Values
    ) -> None:
        self._loops = variables.loops
        self._last = len(variables.problem.program)
        self._life = life
        self._values = values
        self._now: Stay | None = None
        self._entries: dict[int, Stay] = {}
        """By node: what is held at the entry of a loop."""
        self.stays: list[Stay] = []
        self.bonds: list[list[Stay]] = []

    def read(self) -> None:
        """All stays, and those that share a place."""
        tails = list(self._tails())
        for k in range(len(self._life.fast) + 1):
            self._segment(k)
            if k < len(self._life.fast):
                self._node(k, tails)
        if tails:
            self.bonds.append([self.stays[0], *tails])
            self.stays += tails

    def _tails(self) -> Iterator[Stay]:
        for copy in self._life.tails:
            if self._values(copy.made):
                yield self._fetched(copy, Origin.CROSS_PROGRAM, self._last)

    def _fetched(self, copy: CopyVariables, origin: Origin, end: int) -> Stay:
        """What a copy brings in, with the pieces until it is needed at last."""
        issue = first_true(copy.window.issues, copy.issued, self._values)
        due = first_true(copy.window.dues, copy.ready, self._values)
        pieces = [
            Piece(low, high, (literal,))
            for (low, high), literal in zip(
                pairwise((*copy.window.issues, end)), copy.issued, strict=True
            )
            if low >= issue and low < high
        ]
        return Stay(copy.window.buffer, issue, origin, due, pieces)

    def _segment(self, k: int) -> None:
        life, values = self._life, self._values
        segment = life.life.timeline.segments[k]
        held = values(life.held[k])
        if k == 0 and held:
            self._begin(Stay(life.life.buffer, 0, Origin.CROSS_PROGRAM, 0, []))
        if held:
            self._extend(segment.high, (life.held[k],))
        if k in life.evictions and values(life.evictions[k].made):
            self._evict(life.evictions[k], held)
        if not held:
            self._now = None
        if k in life.fetches and values(life.fetches[k].made):
            fetch = life.fetches[k]
            self._begin(self._fetched(fetch, Origin.PREFETCHED, segment.high))

    def _node(self, k: int, tails: list[Stay]) -> None:
        life, node = self._life, self._life.life.timeline.nodes[k]
        fast = self._values(life.fast[k])
        if node.whole and fast:
            point = node.point
            self._begin(Stay(life.life.buffer, point, Origin.PRODUCED, point, []))
        passing = node.kind is Kind.ENTRY and self._values(life.held[k + 1])
        if self._now is not None and not passing:
            end = life.life.end_after(k, self._loops)
            self._extend(end, (life.fast[k],))
        if not fast or node.loop is None:
            return
        if node.kind is Kind.ENTRY:
            assert self._now is not None
            self._entries[k] = self._now
            return
        entry = life.life.timeline.gates(node.loop)[0]
        now = self._now or next(iter(tails), None)
        if entry in self._entries and now is not None:
            self.bonds.append([self._entries[entry], now])

    def _begin(self, stay: Stay) -> None:
        self._now = stay
        self.stays.append(stay)

    def _extend(self, end: int, literals: tuple[Lit, ...]) -> None:
        """Let the present stay go on until a point."""
        assert self._now is not None
        pieces = self._now.pieces
        start = pieces[-1].end if pieces else self._now.start
        if start < end:
            pieces.append(Piece(start, end, literals))

    def _evict(self, copy: CopyVariables, held: bool) -> None:
        """End in an eviction, or let there be one while it is held."""
        assert self._now is not None
        issue = first_true(copy.window.issues, copy.issued, self._values)
        due = first_true(copy.window.dues, copy.ready, self._values)
        self._now.eviction = Eviction(issue, due)
        if not held:
            before = copy.ready_by(due - 1)
            self._extend(due, (copy.made, *(() if before is None else (~before,))))


def first_true(
    points: tuple[int, ...], literals: tuple[Lit, ...], values: Values
) -> int:
    """The first point whose literal is true.

    Raises:
        ValueError: There is none: the copy is not made.
    """
    for point, literal in zip(points, literals, strict=True):
        if values(literal):
            return point
    raise ValueError("the copy is not made")
