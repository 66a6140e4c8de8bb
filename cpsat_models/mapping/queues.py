"""The constraints on copies in their queues, and the stalls (docs/model.md, Time).

Both queues are first in, first out, so each is known by how much work was ever issued
to it and how much of that is done: no copy needs variables of its own. Work is done in
*steps*: an instruction's idle time, a stall, or an inner loop as a whole.

- A copy is complete once all work is done that was issued before it, or with it and due
  no later: copies issued at one point queue in the order in which they are due.
- A queue gets half of a step, or what the other queue leaves of it.
- Copies of a loop's body begin and end in one iteration, so the body is a problem of its
  own, each iteration the same; its stalls cost as often as it runs. Copies that span a
  loop find there the time that its own copies leave, of all iterations.

It is exact but for this, where it is too optimistic: copies that span a loop do not hold
up those of its body; a stall at a point is one, though what is issued there shares it
only with what else is still waited for; and stalls may come before anything is due.
``cuts`` settles what remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hybridalloc.cpsat_models.mapping.costs import InstructionTime
from hybridalloc.cpsat_models.mapping.units import STALL_SLACK, Units
from hybridalloc.cpsat_models.mapping.variables import (
    CopyVariables,
    Linear,
    Lit,
    Variables,
)
from hybridalloc.program import Loop


@dataclass
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


@dataclass
class Body:
    """The copies of one loop's body, or of what is outside all loops."""

    loop: Loop | None
    queues: tuple[Queue, Queue]
    """Prefetches and evictions."""
    points: list[int]
    """Those that are not within an inner loop."""
    spans: list[Lit] = field(default_factory=list)
    """One is true if any copy spans the loop."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no copy."""
        return not any(queue.copies for queue in self.queues)


@dataclass(frozen=True)
class Stalls:
    """How long the program waits, body by body, point by point."""

    of: dict[tuple[Loop | None, int], Linear]
    """Units each time."""


class QueueBuilder:
    """Adds the variables and constraints of all bodies, inner ones first."""

    def __init__(
        self, variables: Variables, times: list[InstructionTime], units: Units
    ) -> None:
        self._variables = variables
        self._model = variables.model
        self._times = times
        self._units = units
        self.stalls = Stalls({})
        self._spare: dict[Loop, Linear] = {}
        self._busy: dict[Loop, list[Lit]] = {}

    def build(self) -> None:
        """All bodies."""
        program = self._variables.problem.program
        for loop in (*reversed(program.loops), None):
            body = self._body(loop)
            spare = self._steps(body)
            if loop is not None:
                self._spare[loop] = spare
                self._busy[loop] = [
                    copy.made for queue in body.queues for copy in queue.copies
                ]
                for inner in program.loops:
                    if inner != loop and loop.encloses(inner):
                        self._busy[loop] += self._busy[inner]

    def _body(self, loop: Loop | None) -> Body:
        loops, problem = self._variables.loops, self._variables.problem
        slow, startup = problem.target.slow, problem.target.copy_engine.startup_s
        queues = []
        for copies, rate in (
            (self._variables.fetches, slow.read_bandwidth),
            (self._variables.evictions, slow.write_bandwidth),
        ):
            own = [copy for copy in copies if copy.window.body == loop]
            sizes = [problem.program.buffers[x.window.buffer].size for x in own]
            queues.append(
                Queue(own, [self._units.down(startup + x / rate) for x in sizes])
            )
        low, high = (0, len(problem.program)) if loop is None else (loop.start, loop.end)
        points = [
            p for p in range(low, high + 1) if loops.outside_before(p, loop) == p
        ]
        return Body(loop, (queues[0], queues[1]), points, self._spans(loop))

    def _spans(self, loop: Loop | None) -> list[Lit]:
        """The literals of which one is true if a copy of an outer body spans a loop."""
        if loop is None:
            return []
        around = [*self._variables.loops.around_body(loop)[:-1], None]
        found = []
        for copy in (*self._variables.fetches, *self._variables.evictions):
            window = copy.window
            if window.body in around and window.dues[-1] >= loop.end:
                begun = copy.issued_by(loop.start)
                if begun is not None:
                    found.append(self._in_flight(begun, copy.ready_by(loop.start)))
        return found

    def _in_flight(self, begun: Lit, due: Lit | None) -> Lit:
        """A literal that is only true between the two."""
        if due is None:
            return begun
        literal = self._model.literal()
        self._model.add_implication(literal, begun)
        self._model.add_implication(literal, ~due)
        return literal

    def _steps(self, body: Body) -> Linear:
        """Add the steps of a body; what time they leave to copies that span it."""
        done: tuple[Linear, Linear] = (0, 0)
        issued: tuple[Linear, Linear] = (0, 0)
        capacities: list[Linear] = []
        for index, point in enumerate(body.points):
            if not body.is_empty:
                done, issued, capacity = self._stall(body, point, done, issued)
                capacities.append(capacity)
            if index + 1 < len(body.points):
                capacity, busy = self._capacity(body, point)
                capacities.append(capacity)
                done = self._advance(body, capacity, done, issued, issued, busy)
        return sum(capacities) - done[0] - done[1]

    def _capacity(self, body: Body, point: int) -> tuple[Linear, list[Lit]]:
        """The time for copies from one point of a body to the next, and what if not
        all false makes it unknown how it is shared."""
        inner = self._variables.loops.inner(point, body.loop)
        if inner is None:
            return self._times[point].idle, []
        return inner.trip_count * self._spare[inner], self._busy[inner]

    def _stall(
        self,
        body: Body,
        point: int,
        done: tuple[Linear, Linear],
        issued: tuple[Linear, Linear],
    ) -> tuple[tuple[Linear, Linear], tuple[Linear, Linear], Linear]:
        """Issue copies at a point and finish what is due there."""
        now = (self._issued(body, 0, point), self._issued(body, 1, point))
        if all(isinstance(x, int) for x in now):
            return done, now, 0
        most = body.queues[0].most + body.queues[1].most
        stall = self._model.least(most)
        self.stalls.of[body.loop, point] = stall
        capacity = stall + STALL_SLACK
        after = self._advance(body, capacity, done, now, issued, [])
        for queue, work in zip(body.queues, after, strict=True):
            demanded = queue.demanded(point)
            if not isinstance(demanded, int):
                self._model.add(work >= demanded)
                self._first_in_first_out(queue, point, work)
        return after, now, capacity

    def _issued(self, body: Body, number: int, point: int) -> Linear:
        """The work issued by a point, as a variable; 0 if there cannot be any."""
        queue = body.queues[number]
        issued = queue.issued(point)
        if isinstance(issued, int):
            return 0
        variable = self._model.least(queue.most)
        self._model.add(variable == issued)
        return variable

    def _advance(
        self,
        body: Body,
        capacity: Linear,
        done: tuple[Linear, Linear],
        issued: tuple[Linear, Linear],
        ahead: tuple[Linear, Linear],
        unknown: list[Lit],
    ) -> tuple[Linear, Linear]:
        """Let both queues work for a step.

        Args:
            body: Whose queues.
            capacity: The time of the step.
            done: The work done before.
            issued: No more than this is done after it.
            ahead: The work issued before the step, which shares it for certain.
            unknown: Unless these are all false, sharing is not settled.
        """
        after: list[Linear] = []
        for number in range(2):
            if isinstance(issued[number], int):
                after.append(0)
                continue
            work = self._model.largest(body.queues[number].most)
            self._model.add(work >= done[number])
            self._model.add(work <= issued[number])
            after.append(work)
        grown = after[0] - done[0], after[1] - done[1]
        if not all(isinstance(x, int) for x in after):
            self._model.add(grown[0] + grown[1] <= capacity)
        if not any(isinstance(x, int) for x in after):
            for number in range(2):
                left = ahead[1 - number] - done[1 - number]
                self._share(grown[number], left, capacity, [*unknown, *body.spans])
        return after[0], after[1]

    def _share(
        self, grown: Linear, other_left: Linear, capacity: Linear, unknown: list[Lit]
    ) -> None:
        """A queue gets half of a step, or what the other one leaves of it."""
        if isinstance(other_left, int):
            return
        half, rest = self._model.literal(), self._model.literal()
        self._model.add(2 * grown <= capacity).only_enforce_if(half)
        self._model.add(grown + other_left <= capacity).only_enforce_if(rest)
        self._model.add_bool_or(half, rest, *unknown)

    def _first_in_first_out(self, queue: Queue, due: int, done: Linear) -> None:
        """At a due point, what was issued before a copy due there is done as well."""
        waiting = [copy for copy in queue.copies if due in copy.window.dues]
        thresholds = {q for copy in waiting for q in copy.window.issues if q <= due}
        for threshold in sorted(thresholds):
            terms = list(self._ahead(queue, due, threshold))
            if not any(overtakes for _, _, overtakes in terms):
                continue
            late = self._model.literal()
            for copy in waiting:
                self._implied_if_late(copy, due, threshold, late)
            ahead: Linear = sum(work * literal for work, literal, _ in terms)
            self._model.add(done >= ahead).only_enforce_if(late)

    def _implied_if_late(
        self, copy: CopyVariables, due: int, threshold: int, late: Lit
    ) -> None:
        """It is, if a copy is due at this very point and issued at the threshold or
        later."""
        ready = copy.ready_by(due)
        if threshold > copy.window.issues[-1] or ready is None:
            return
        earlier = copy.ready_by(due - 1), copy.issued_by(threshold - 1)
        self._model.add_bool_or(~ready, late, *(x for x in earlier if x is not None))

    def _ahead(
        self, queue: Queue, due: int, threshold: int
    ) -> Iterator[tuple[int, Lit, bool]]:
        """What is done when a copy due at a point and issued at the threshold is.

        Yields:
            Work, whether it counts, and whether it is of a copy due later.
        """
        for copy, work in zip(queue.copies, queue.works, strict=True):
            issued, ready = copy.issued_by(threshold - 1), copy.ready_by(due)
            if copy.window.dues[-1] <= due or issued is None:
                if ready is not None:
                    yield work, ready, False
            elif ready is None:
                yield work, issued, True
            else:
                either = self._model.literal()
                self._model.add_implication(issued, either)
                self._model.add_implication(ready, either)
                yield work, either, True
