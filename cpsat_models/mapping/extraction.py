"""From the values of the literals to allocations, which have no offsets yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hybridalloc.baselines.placed import queue_key
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


@dataclass
class Stay:
    """An allocation, and the literals that say that it is there at least so long."""

    buffer: int
    start: int
    origin: Origin
    ready: int
    reasons: list[Lit]
    end: int = 0
    eviction: Eviction | None = None
    number: int = -1
    """Its index among all of a solution."""

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
        if self._now is not None:
            self._now.end = self._last
        if tails:
            self.bonds.append([self.stays[0], *tails])
            self.stays += tails

    def _tails(self) -> Iterator[Stay]:
        for copy in self._life.tails:
            if self._values(copy.made):
                start, reason = self._issue(copy)
                yield Stay(
                    self._life.life.buffer,
                    start,
                    Origin.CROSS_PROGRAM,
                    self._last,
                    [reason],
                    self._last,
                )

    def _segment(self, k: int) -> None:
        life, values = self._life, self._values
        held = values(life.held[k])
        if k == 0 and held:
            self._begin(Stay(life.life.buffer, 0, Origin.CROSS_PROGRAM, 0, []))
        if held and self._now is not None:
            self._now.reasons.append(life.held[k])
        if k in life.evictions and values(life.evictions[k].made):
            self._evict(life.evictions[k], held)
        if not held:
            self._now = None
        if k in life.fetches and values(life.fetches[k].made):
            copy = life.fetches[k]
            start, reason = self._issue(copy)
            due, _ = _first(copy.window.dues, copy.ready, values)
            self._begin(
                Stay(life.life.buffer, start, Origin.PREFETCHED, due, [reason])
            )

    def _node(self, k: int, tails: list[Stay]) -> None:
        life, node = self._life, self._life.life.timeline.nodes[k]
        fast = self._values(life.fast[k])
        if node.whole and fast:
            self._begin(
                Stay(
                    life.life.buffer,
                    node.point,
                    Origin.PRODUCED,
                    node.point,
                    [life.fast[k]],
                )
            )
        if self._now is not None:
            self._now.end = max(self._now.end, life.life.end_after(k, self._loops))
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

    def _evict(self, copy: CopyVariables, held: bool) -> None:
        """End in an eviction, or let there be one while it is held."""
        assert self._now is not None
        start, _ = self._issue(copy)
        due, ready = _first(copy.window.dues, copy.ready, self._values)
        self._now.eviction = Eviction(start, due)
        if held:
            return
        self._now.end = max(self._now.end, due)
        self._now.reasons.append(copy.made)
        place = copy.ready.index(ready)
        if place:
            self._now.reasons.append(~copy.ready[place - 1])

    def _issue(self, copy: CopyVariables) -> tuple[int, Lit]:
        return _first(copy.window.issues, copy.issued, self._values)


def _first(
    points: tuple[int, ...], literals: tuple[Lit, ...], values: Values
) -> tuple[int, Lit]:
    """The first point whose literal is true, and that literal."""
    for point, literal in zip(points, literals, strict=True):
        if values(literal):
            return point, literal
    raise ValueError("the copy is not made")
