"""What may happen to each buffer: the skeleton that the variables hang on.

For every node and segment of a buffer's timeline it is settled here, without a solver,
what is possible at all and what could be of use: holding what is dead, or copying where
no copy may be, has no variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Loop, Memory, Program
from hybridalloc.timeline import Kind, Segment, Timeline


@dataclass(frozen=True, slots=True)
class Window:
    """A copy that may be made: the points between which it may run."""

    buffer: int
    segment: int
    """In which it is due."""
    body: Loop | None
    """The innermost loop that it lies in."""
    issues: tuple[int, ...]
    """The points at which it may be issued, ascending."""
    dues: tuple[int, ...]
    """The points at which it may be due, ascending."""

    @property
    def spans_body(self) -> bool:
        """Whether an issue and a due point together would span the body's loop."""
        body = self.body
        return body is not None and (
            self.issues[0] == body.start and self.dues[-1] == body.end
        )


@dataclass(frozen=True)
class Life:
    """One buffer: which of its nodes and segments may be in fast memory, and copies."""

    timeline: Timeline
    size: int
    """Bytes."""
    is_input: bool
    is_output: bool
    pinned: bool
    live: tuple[bool, ...]
    """(nodes + 1,): whether the content in each segment is used later."""
    fetches: dict[int, Window]
    """The prefetch that may be due in each segment."""
    evictions: dict[int, Window]
    """The eviction that may be due in each segment."""
    tails: tuple[Window, ...]
    """Of a candidate for a cross-program prefetch: its copies for the next run, one for
    each body that ends with the program."""
    crosses: bool
    """Whether it is such a candidate."""

    @property
    def buffer(self) -> int:
        """Its index."""
        return self.timeline.buffer

    @property
    def literals(self) -> int:
        """How many literals its copies take."""
        windows = (*self.fetches.values(), *self.evictions.values(), *self.tails)
        return sum(len(x.issues) + len(x.dues) for x in windows)

    def __len__(self) -> int:
        return len(self.timeline.nodes)

    def ends_with_another(self, index: int) -> bool:
        """Whether a node and the next are exits of loops that end at one point."""
        nodes = self.timeline.nodes
        return index + 1 < len(nodes) and all(
            x.kind is Kind.EXIT and x.point == nodes[index].point
            for x in nodes[index : index + 2]
        )

    def end_after(self, index: int, loops: Loops) -> int:
        """Where a stay ends at the earliest if it is given up right after a node."""
        node = self.timeline.nodes[index]
        if node.kind is Kind.ACCESS:
            return node.point + 1
        if node.kind is Kind.EXIT:
            return node.point
        return loops.after(node.point, node.loop)


def lives(problem: Problem, loops: Loops, *, free_dues: bool) -> Iterator[Life]:
    """The buffers that may be in fast memory and have accesses.

    Args:
        problem: What is to be mapped.
        loops: Those of its program.
        free_dues: Whether a prefetch may be due before the node that needs it.
    """
    program = problem.program
    for index, buffer in enumerate(program.buffers):
        if buffer.memory is Memory.SLOW or not program.uses[index]:
            continue
        yield _life(problem, Timeline(program, loops, index), loops, free_dues)


def _life(problem: Problem, timeline: Timeline, loops: Loops, free_dues: bool) -> Life:
    buffer = problem.program.buffers[timeline.buffer]
    live = tuple(_live(timeline, buffer.is_output))
    engine, target = problem.target.copy_engine, problem.target
    fetches, evictions = {}, {}
    for k in (k for k, lives_on in enumerate(live) if lives_on):
        if engine.max_outstanding_prefetches and k < len(timeline.nodes):
            fetches[k] = _fetch(timeline, loops, k, free_dues)
        if engine.max_outstanding_evictions and timeline.may_evict(k):
            evictions[k] = _eviction(timeline, loops, k)
    crosses = target.cross_program_prefetches > 0
    crosses = crosses and is_candidate(problem.program, timeline.buffer)
    return Life(
        timeline,
        buffer.size,
        buffer.is_input,
        buffer.is_output,
        buffer.memory is Memory.FAST,
        live,
        {k: window for k, window in fetches.items() if window},
        {k: window for k, window in evictions.items() if window},
        tuple(_tails(problem.program, timeline, loops)) if crosses else (),
        crosses,
    )


def is_candidate(program: Program, index: int) -> bool:
    """Whether solvers may choose a buffer for the cross-program prefetch."""
    buffer = program.buffers[index]
    written = any(use.access.writes for use in program.uses[index])
    return (
        buffer.is_input and buffer.cross_program and not (buffer.is_output or written)
    )


def _live(timeline: Timeline, is_output: bool) -> list[bool]:
    """(nodes + 1,): whether what the buffer holds in each segment is used later."""
    live = [is_output]
    for node in reversed(timeline.nodes):
        if node.kind is Kind.ACCESS:
            live.append(not node.whole)
        else:
            assert node.loop is not None
            around = timeline.live_across(node.loop)
            live.append(around or (node.kind is Kind.EXIT and live[-1]))
    return live[::-1]


def _fetch(timeline: Timeline, loops: Loops, k: int, free_dues: bool) -> Window | None:
    """The prefetch that may be due in a segment: at its end, or anywhere in it."""
    segment = timeline.segments[k]
    first, last = timeline.copies_from(k), segment.high
    low = segment.low if free_dues else last
    dues = _points(loops, segment.body, low, last, is_due=True)
    issues = _points(loops, segment.body, first, last, is_due=False)
    return _window(timeline, k, segment, issues, dues)


def _eviction(timeline: Timeline, loops: Loops, k: int) -> Window | None:
    """The eviction that may be due in a segment."""
    segment = timeline.segments[k]
    first = timeline.copies_from(k)
    dues = _points(loops, segment.body, segment.low, segment.high, is_due=True)
    issues = _points(loops, segment.body, first, segment.high, is_due=False)
    return _window(timeline, k, segment, issues, dues)


def _window(
    timeline: Timeline,
    k: int,
    segment: Segment,
    issues: tuple[int, ...],
    dues: tuple[int, ...],
) -> Window | None:
    """The window of these points, less those that have no counterpart."""
    if not issues or not dues:
        return None
    dues = tuple(d for d in dues if d >= issues[0])
    issues = tuple(q for q in issues if dues and q <= dues[-1])
    body = segment.body
    if body is not None and dues == (body.end,):
        issues = tuple(q for q in issues if q != body.start)
    if body is not None and issues == (body.start,):
        dues = tuple(d for d in dues if d != body.end)
    if not issues or not dues:
        return None
    return Window(timeline.buffer, k, body, issues, dues)


def _points(
    loops: Loops, body: Loop | None, low: int, high: int, *, is_due: bool
) -> tuple[int, ...]:
    """The points of [low, high] at which a copy of this body may begin, or end."""
    if body is not None:
        low = max(low, body.start + is_due)
        high = min(high, body.end - (not is_due))
    return tuple(p for p in range(low, high + 1) if loops.outside_before(p, body) == p)


def _tails(program: Program, timeline: Timeline, loops: Loops) -> Iterator[Window]:
    """The copies by which a cross-program prefetch is there for the next run."""
    last = len(program)
    bodies = [None, *(loop for loop in program.loops if loop.end == last)]
    for body in bodies:
        low = 1 if body is None else body.start + 1
        if issues := _points(loops, body, low, last - 1, is_due=False):
            yield Window(timeline.buffer, len(timeline.nodes), body, issues, (last,))
