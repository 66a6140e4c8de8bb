"""The life of one buffer as nodes and the segments between them.

A *node* is an access, or a *gate*: the entry or the exit of a loop that accesses the
buffer. Whether the buffer is held in fast memory is asked once at each node and
once in each *segment*, the stretch before a node; the last segment runs to the end of
the program. Copies of a segment have both ends in its *body*, the innermost loop around
it (docs/model.md, Loops), so that exact models and relaxations need not look at loops
again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from hybridalloc.loops import Loops
from hybridalloc.program import Access, Loop, Program


class Kind(Enum):
    """What a node is."""

    ACCESS = auto()
    ENTRY = auto()
    """Just before the first iteration of a loop, and at each of its back edges."""
    EXIT = auto()
    """Just after the last instruction of a loop's body, in every iteration."""


@dataclass(frozen=True, slots=True)
class Node:
    """An access or a gate."""

    kind: Kind
    point: int
    """The instruction of an access; the first or the end point of a loop."""
    access: Access | None = None
    """Only of an access."""
    loop: Loop | None = None
    """Only of a gate."""

    @property
    def writes(self) -> bool:
        """Whether the buffer changes here."""
        return self.access is not None and self.access.writes

    @property
    def whole(self) -> bool:
        """Whether nothing of what the buffer held before is needed here."""
        return self.access is not None and self.access.whole


@dataclass(frozen=True, slots=True)
class Segment:
    """The instructions [low, high) between two nodes."""

    low: int
    high: int
    body: Loop | None
    """The innermost loop around it; ``None`` outside of all."""


@dataclass(frozen=True, slots=True)
class Reach:
    """A write whose content may be the buffer's at a later node."""

    write: int | None
    """The node; ``None`` for the content before the program starts."""
    segments: tuple[int, ...]
    """Those between the write and the node, around a back edge if need be."""


class Timeline:
    """Nodes and segments of one buffer.

    Segment ``k`` comes before node ``k``; the last one, ``len(nodes)``, is the tail.
    """

    def __init__(self, program: Program, loops: Loops, buffer: int) -> None:
        """Lay out a buffer's life.

        Args:
            program: The program.
            loops: Its loops.
            buffer: The index of the buffer, which may be without accesses.
        """
        self.buffer = buffer
        self._loops = loops
        self._end = len(program)
        self.nodes: tuple[Node, ...] = tuple(_nodes(program, loops, buffer))
        self._gates = {
            (node.kind, node.loop): index
            for index, node in enumerate(self.nodes)
            if node.loop is not None
        }
        self._writes = [index for index, node in enumerate(self.nodes) if node.writes]

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """(nodes + 1,): what lies before each node, and the tail."""
        segments, low = [], 0
        for index, node in enumerate(self.nodes):
            segments.append(Segment(low, node.point, self._body(index)))
            low = node.point + (node.kind is Kind.ACCESS)
        return (*segments, Segment(low, self._end, None))

    def gates(self, loop: Loop) -> tuple[int, int]:
        """The entry and the exit of a loop that accesses the buffer."""
        return self._gates[Kind.ENTRY, loop], self._gates[Kind.EXIT, loop]

    def live_across(self, loop: Loop) -> bool:
        """Whether the content at the back edge is used, by the loop's first access."""
        entry, exit_ = self.gates(loop)
        first = next(x for x in self.nodes[entry:exit_] if x.access is not None)
        return not first.whole

    def reaching(self, index: int) -> Iterator[Reach]:
        """The last writes that may have come before a node, or before the end.

        One for each way to get there: straight on, or around the back edge of a loop.
        """
        position = index
        for loop in reversed(self._around(index)):
            entry, exit_ = self.gates(loop)
            before = self._last_write(entry, position)
            if before is not None:
                yield Reach(before, tuple(range(before + 1, index + 1)))
                return
            later = self._last_write(position - 1, exit_)
            if later is not None:
                yield Reach(
                    later,
                    (*range(later + 1, exit_ + 1), *range(entry + 1, index + 1)),
                )
            position = entry
        before = self._last_write(-1, position)
        first = 0 if before is None else before + 1
        yield Reach(before, tuple(range(first, index + 1)))

    def copies_from(self, segment: int) -> int:
        """The first point at which a copy that is due in a segment may be issued.

        That is after the last write before it, in the same body.
        """
        body = self._body(segment)
        entry = -1 if body is None else self.gates(body)[0]
        write = self._last_write(entry, segment)
        if write is not None:
            return self._loops.after(self.nodes[write].point, body)
        return 0 if body is None else body.start

    def may_evict(self, segment: int) -> bool:
        """Whether an eviction that is due in a segment can be of use.

        Its body must write the buffer: otherwise the slow copy would be stale at the
        entry of the loop and valid at its back edge.
        """
        body = self._body(segment)
        if body is None:
            return self._last_write(-1, segment) is not None
        return self._last_write(*self.gates(body)) is not None

    def _body(self, segment: int) -> Loop | None:
        around = self._around(segment)
        return around[-1] if around else None

    def _around(self, index: int) -> tuple[Loop, ...]:
        """The loops around a node, outer first: its own if it is an exit."""
        if index == len(self.nodes):
            return ()
        node = self.nodes[index]
        if node.kind is Kind.ACCESS:
            return self._loops.around(node.point)
        around = self._loops.around_body(node.loop)
        return around if node.kind is Kind.EXIT else around[:-1]

    def _last_write(self, low: int, high: int) -> int | None:
        """The last node that writes, of those strictly between two."""
        before = bisect_left(self._writes, high)
        write = self._writes[before - 1] if before else -1
        return write if write > low else None


def _nodes(program: Program, loops: Loops, buffer: int) -> Iterator[Node]:
    inside: list[Loop] = []
    for use in program.uses[buffer]:
        around = loops.around(use.instruction)
        while inside and inside[-1] not in around:
            loop = inside.pop()
            yield Node(Kind.EXIT, loop.end, loop=loop)
        for loop in around[len(inside) :]:
            inside.append(loop)
            yield Node(Kind.ENTRY, loop.start, loop=loop)
        yield Node(Kind.ACCESS, use.instruction, use.access)
    for loop in reversed(inside):
        yield Node(Kind.EXIT, loop.end, loop=loop)
