"""Whether the slow copy of a buffer is valid, followed through the unrolled program.

What happens to one buffer is put in order of time: its accesses, the ends of its
copies, and the entries and back edges of the loops in which any of that happens.
Each happening either leaves the slow copy valid, leaves it stale, or changes nothing.
A loop needs no unrolling: what its body leaves behind is what the last change in it
leaves, so every iteration but the first starts with that, and each happening sees one
of at most two states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hybridalloc.checker.facts import Copy, Facts
from hybridalloc.program import Loop, Use

Order = tuple[int, int, int, int]
"""Sorts happenings: the point; bodies that end there (innermost first), outside,
bodies that begin there (outermost first), the instruction; the rank among these
bodies; then the step within."""
_ENDING, _OUTSIDE, _BEGINNING, _INSTRUCTION = range(4)


@dataclass(frozen=True, slots=True)
class Served:
    """An access, in fast or slow memory."""

    use: Use
    fast: bool


@dataclass(frozen=True, slots=True)
class Issued:
    """A copy from slow memory begins."""

    copy: Copy


@dataclass(frozen=True, slots=True)
class Evicted:
    """An eviction is due."""

    copy: Copy


@dataclass(frozen=True, slots=True)
class Entry:
    """A loop is entered."""

    loop: Loop


@dataclass(frozen=True, slots=True)
class BackEdge:
    """An iteration ends."""

    loop: Loop


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happens to a buffer, and what it does to the slow copy."""

    order: Order
    what: Served | Issued | Evicted | Entry | BackEdge
    leaves_valid: bool | None = None
    """Whether the slow copy is valid after it; None if that does not change."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A happening, and whether the slow copy is valid just before it."""

    what: Served | Issued | Evicted | Entry | BackEdge | None
    """None at the end of the run."""
    valid: frozenset[bool]
    """True, False, or, where iterations differ, both."""


def history(facts: Facts, buffer: int) -> Iterator[Moment]:
    """What happens to a buffer, in order of time, and at last the end of the run."""
    happenings = sorted(_happenings(facts, buffer), key=lambda x: x.order)
    # A map may be invalid: what it puts beyond the end of the run never happens, and
    # must not decide whether outputs are valid there.
    happenings = [x for x in happenings if x.order <= (facts.end, _OUTSIDE, 0, 2)]
    left = _left_by_bodies(happenings)
    valid = frozenset({facts.program.buffers[buffer].is_input})
    for happening in happenings:
        yield Moment(happening.what, valid)
        if happening.leaves_valid is not None:
            valid = frozenset({happening.leaves_valid})
        elif isinstance(happening.what, Entry) and happening.what.loop in left:
            valid |= {left[happening.what.loop]}
    yield Moment(None, valid)


def _left_by_bodies(happenings: list[Happening]) -> dict[Loop, bool]:
    """For each loop whose body changes the slow copy: whether it leaves it valid."""
    left: dict[Loop, bool] = {}
    inside: list[Loop] = []
    for happening in happenings:
        if isinstance(happening.what, Entry):
            inside.append(happening.what.loop)
        elif isinstance(happening.what, BackEdge):
            inside.pop()
        elif happening.leaves_valid is not None:
            left |= dict.fromkeys(inside, happening.leaves_valid)
    return left


def _happenings(facts: Facts, buffer: int) -> Iterator[Happening]:
    for use in facts.program.uses[buffer]:
        yield _served(use, facts.served_fast(use))
    for placed in facts.stays[buffer].allocations:
        for copy in placed.copies():
            yield _evicted(facts, copy) if copy.is_eviction else _issued(facts, copy)
    for loop in _loops_touched(facts, buffer):
        depth = facts.nest.depth[loop]
        yield Happening((loop.start, _BEGINNING, depth, 0), Entry(loop))
        yield Happening((loop.end, _ENDING, -depth, 1), BackEdge(loop))


def _served(use: Use, fast: bool) -> Happening:
    leaves_valid = None
    if fast and use.access.writes:
        leaves_valid = False
    if not fast and use.access.whole:
        leaves_valid = True
    return Happening(
        (use.instruction, _INSTRUCTION, 0, 0), Served(use, fast), leaves_valid
    )


def _issued(facts: Facts, copy: Copy) -> Happening:
    return Happening((*_where(facts, copy, copy.issue), 1), Issued(copy))


def _evicted(facts: Facts, copy: Copy) -> Happening:
    """An eviction of what is not ready, or is written meanwhile, achieves nothing."""
    allocation = copy.placed.allocation
    writes = facts.writes(allocation.buffer, copy.issue, copy.due)
    current = copy.placed.is_complete(copy.issue) and not writes
    step = 2 if copy.issue == copy.due else 0
    order = (*_where(facts, copy, copy.due), step)
    return Happening(order, Evicted(copy), leaves_valid=current or None)


def _where(facts: Facts, copy: Copy, point: int) -> tuple[int, int, int]:
    """Where one end of a copy stands among what happens at its point."""
    body = facts.nest.body_of_copy(copy.issue, copy.due)
    if body is not None and point == body.end:
        return point, _ENDING, -facts.nest.depth[body]
    if body is not None and point == body.start:
        return point, _BEGINNING, facts.nest.depth[body]
    return point, _OUTSIDE, 0


def _loops_touched(facts: Facts, buffer: int) -> Iterable[Loop]:
    """The loops within which anything happens to a buffer or its allocations."""
    touched: dict[Loop, None] = {}
    for point in _points(facts, buffer):
        for loop in facts.nest.around(point):
            if loop in touched:
                break  # and so are all around it
            touched[loop] = None
    return touched


def _points(facts: Facts, buffer: int) -> Iterator[int]:
    for use in facts.program.uses[buffer]:
        yield use.instruction
    for placed in facts.stays[buffer].allocations:
        allocation = placed.allocation
        yield from (allocation.start, allocation.ready, allocation.end)
        for copy in placed.copies():
            yield from (copy.issue, copy.due)
