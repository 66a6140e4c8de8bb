"""Loop bodies and their two queues of copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hybridalloc.cpsat_models.mapping.units import Units
from hybridalloc.cpsat_models.mapping.variables import (
    CopyVariables,
    Linear,
    Lit,
    Variables,
)
from hybridalloc.program import Loop


@dataclass(frozen=True)
class Queue:
    """One queue of one body: its copies and their work."""

    copies: list[CopyVariables]
    works: list[int]
    """Units of each copy."""

    @property
    def most(self) -> int:
        """The work of all copies."""
        return sum(self.works)

    def issued(self, point: int) -> Linear:
        """The work issued by a point."""
        return self._sum(x.issued_by(point) for x in self.copies)

    def demanded(self, point: int) -> Linear:
        """The work of copies due by a point."""
        return self._sum(x.ready_by(point) for x in self.copies)

    def _sum(self, literals: Iterator[Lit | None]) -> Linear:
        pairs = zip(self.works, literals, strict=True)
        return sum(work * literal for work, literal in pairs if literal is not None)

    @property
    def issues(self) -> set[int]:
        """The points at which a copy may be issued."""
        return {point for copy in self.copies for point in copy.window.issues}


@dataclass(frozen=True)
class Body:
    """The copies of one loop's body, or of what is outside all loops."""

    loop: Loop | None
    queues: tuple[Queue, Queue]
    """Prefetches and evictions."""
    points: list[int]
    """Those that are not within an inner loop."""
    spans: list[Lit] = field(default_factory=list)
    """Unless all are false, some copy spans the loop."""

    @property
    def copies(self) -> list[CopyVariables]:
        """Of both queues."""
        return [copy for queue in self.queues for copy in queue.copies]


def make_body(variables: Variables, units: Units, loop: Loop | None) -> Body:
    """The body of a loop, or what is outside all loops."""
    loops, problem = variables.loops, variables.problem
    slow = problem.target.slow
    low, high = (0, len(problem.program)) if loop is None else (loop.start, loop.end)
    return Body(
        loop,
        (
            _queue(variables, units, loop, variables.fetches, slow.read_bandwidth),
            _queue(variables, units, loop, variables.evictions, slow.write_bandwidth),
        ),
        [p for p in range(low, high + 1) if loops.outside_before(p, loop) == p],
        [] if loop is None else list(_spans(variables, loop)),
    )


def _queue(
    variables: Variables,
    units: Units,
    loop: Loop | None,
    copies: list[CopyVariables],
    rate: float,
) -> Queue:
    problem = variables.problem
    startup = problem.target.copy_engine.startup_s
    own = [copy for copy in copies if copy.window.body == loop]
    sizes = [problem.program.buffers[x.window.buffer].size for x in own]
    return Queue(own, [units.down(startup + size / rate) for size in sizes])


def _spans(variables: Variables, loop: Loop) -> Iterator[Lit]:
    """The literals of which one is true if a copy of an outer body spans a loop."""
    model = variables.model
    around = [*variables.loops.around_body(loop)[:-1], None]
    for copy in (*variables.fetches, *variables.evictions):
        window = copy.window
        if window.body not in around or window.dues[-1] < loop.end:
            continue
        begun, due = copy.issued_by(loop.start), copy.ready_by(loop.start)
        if begun is None:
            continue
        if due is None:
            yield begun
            continue
        literal = model.literal()
        model.add_implication(literal, begun)
        model.add_implication(literal, ~due)
        yield literal
