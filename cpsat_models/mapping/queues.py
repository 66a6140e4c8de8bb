"""The constraints on copies in their queues, and the clock (docs/model.md, Time).

Both queues are first in, first out, so each is known by how much work was ever issued
to it and how much of that is done: no copy needs variables of its own. The *clock* is
the time in which slow memory serves no access; it goes on in *steps*, by an
instruction's idle time or by a stall, and copies advance as it does.

- A copy is complete once all work is done that was issued before it, or with it and due
  no later: copies issued at one point queue in the order in which they are due.
- A queue gets half of a step, or what the other queue leaves of it.
- Copies of a loop's body begin and end in one trip, so the body is a problem of its
  own, with a clock of its own, each trip the same. Copies that span a loop find there
  the time that its own copies leave, in all trips. If they are ahead of those, the
  first trip may take longer than others.

It is exact but for this, where it is too optimistic: how a queue shares a loop with the
other one, where copies span it; a stall at a point is one, though what is issued there
shares it only with what else is still waited for; and stalls may come before anything
is due.
``cuts`` settles what remains.
"""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.cpsat_models.mapping.bodies import Body, make_body
from hybridalloc.cpsat_models.mapping.costs import InstructionTime
from hybridalloc.cpsat_models.mapping.order import first_in_first_out
from hybridalloc.cpsat_models.mapping.units import STALL_SLACK, Units
from hybridalloc.cpsat_models.mapping.variables import Linear, Lit, Model, Variables
from hybridalloc.program import Loop

Pair = tuple[Linear, Linear]
"""Of prefetches, and of evictions."""


@dataclass
class Clocks:
    """What the clock of each body shows, in units, once each iteration begins at 0."""

    before: dict[tuple[Loop | None, int], Linear]
    """At a point of a body, before anything happens there."""
    after: dict[tuple[Loop | None, int], Linear]
    """After the stalls there."""
    first: dict[Loop, Linear]
    """By how much the first trips of a loop take longer than others, in one run."""


@dataclass(frozen=True)
class _Mark:
    """The state at a point, before anything happens there."""

    point: int
    room: Linear
    """Units in which copies of this body could run until then."""
    issued: Pair


@dataclass
class _State:
    """What is true between two steps of a body."""

    clock: Linear = 0
    extra: Linear = 0
    """Units beside the clock in which copies could run: in inner loops, and slack."""
    most: int = 0
    """An upper bound of the clock."""
    done: Pair = (0, 0)
    issued: Pair = (0, 0)

    @property
    def room(self) -> Linear:
        """Units in which copies could run so far."""
        return self.clock + self.extra


@dataclass(frozen=True)
class _Inner:
    """A loop, as those see it who span it."""

    room: Linear
    """Units in which copies could run in each trip."""
    spare: Linear
    """Those that its own copies leave."""
    done: Pair
    """The work of its own copies."""
    busy: tuple[list[Lit], list[Lit]]
    """Whether it has copies, or loops within it have."""


class QueueBuilder:
    """Adds the variables and constraints of all bodies, inner ones first."""

    def __init__(
        self, variables: Variables, times: list[InstructionTime], units: Units
    ) -> None:
        self._variables = variables
        self._model: Model = variables.model
        self._times = times
        self._units = units
        self.clocks = Clocks({}, {}, {})
        self.objective: Linear = 0
        """Units of one run."""
        self._inner: dict[Loop, _Inner] = {}

    def build(self) -> None:
        """All bodies."""
        program, loops = self._variables.problem.program, self._variables.loops
        for loop in (*reversed(program.loops), None):
            body = make_body(self._variables, self._units, loop)
            state = self._steps(body)
            own = [t for t in body.points[:-1] if loops.inner(t, loop) is None]
            traffic = sum(self._times[t].traffic for t in own)
            self.objective += int(loops.trips(loop)) * (state.clock + traffic)
            if loop is not None:
                self._inner[loop] = self._seen_from_outside(body, state)

    def _seen_from_outside(self, body: Body, state: _State) -> _Inner:
        """What the steps of a body are to copies that span it."""
        busy: list[list[Lit]] = [[], []]
        for loop, inner in self._inner.items():
            if body.loop is not None and body.loop.encloses(loop):
                for number in range(2):
                    busy[number] += inner.busy[number]
        for literals, queue in zip(busy, body.queues, strict=True):
            literals += [copy.made for copy in queue.copies]
        spare = state.room - state.done[0] - state.done[1]
        return _Inner(state.room, spare, state.done, (busy[0], busy[1]))

    def _steps(self, body: Body) -> _State:
        """Add the steps of one iteration."""
        state, marks = _State(), list[_Mark]()
        for index, point in enumerate(body.points):
            self._model.require_time()
            self.clocks.before[body.loop, point] = state.clock
            self._stall(body, point, state, marks)
            self.clocks.after[body.loop, point] = state.clock
            if index + 1 < len(body.points):
                self._run(body, point, state)
        return state

    def _run(self, body: Body, point: int, state: _State) -> None:
        """Go on to the next point of a body: by an instruction, or by an inner loop."""
        room, unknown = state.room, list[Lit]()
        inner = self._variables.loops.inner(point, body.loop)
        if inner is None:
            self._tick(self._times[point], state)
        else:
            seen = self._inner[inner]
            state.extra += inner.trip_count * seen.spare
            state.extra += self._first_trip(body, inner, state)
            unknown = [*seen.busy[0], *seen.busy[1]]
        self._advance(body, state, state.room - room, state.issued, unknown)

    def _first_trip(self, body: Body, loop: Loop, state: _State) -> Linear:
        """The units by which the first trip of an inner loop takes longer than others.

        What was issued to a queue before the loop is ahead of the copies of its body.
        So if there are any, it is done within the first trip, and so are they.
        """
        seen, longer = self._inner[loop], 0
        for number in range(2):
            left = state.issued[number] - state.done[number]
            if isinstance(left, int) or not seen.busy[number]:
                continue
            if isinstance(longer, int):
                longer = self._model.least(sum(queue.most for queue in body.queues))
            any_copy = self._model.literal()
            for literal in seen.busy[number]:
                self._model.add_implication(literal, any_copy)
            needed = left + seen.done[number]
            row = self._model.add(needed <= seen.room + longer)
            row.only_enforce_if(any_copy)
        self.clocks.first[loop] = int(self._variables.loops.trips(body.loop)) * longer
        self.objective += self.clocks.first[loop]
        return longer

    def _tick(self, time: InstructionTime, state: _State) -> None:
        """Let the clock go on by the idle time of an instruction."""
        state.extra += time.slack
        idle = [term - time.traffic for term in time.terms]
        if all(isinstance(x, int) for x in idle):
            least = max(x for x in idle if isinstance(x, int))
            state.clock, state.most = state.clock + least, state.most + least
            return
        state.most += time.most
        clock = self._model.least(state.most)
        for x in idle:
            self._model.add(clock >= state.clock + x)
        state.clock = clock

    def _stall(self, body: Body, point: int, state: _State, marks: list[_Mark]) -> None:
        """Issue copies at a point and finish what is due there."""
        ahead = state.issued
        marks.append(_Mark(point, state.room, ahead))
        issued = self._issued(body, 0, point), self._issued(body, 1, point)
        state.issued = issued
        if all(isinstance(x, int) for x in issued):
            return
        room = state.room
        state.most += body.queues[0].most + body.queues[1].most
        clock = self._model.least(state.most)
        self._model.add(clock >= state.clock)
        state.clock, state.extra = clock, state.extra + STALL_SLACK
        self._advance(body, state, state.room - room, ahead, [])
        demands = [self._demand(body, n, point, state.done[n]) for n in range(2)]
        self._wait(state, marks, (demands[0], demands[1]))

    def _issued(self, body: Body, number: int, point: int) -> Linear:
        """The work issued by a point, as a variable; 0 if there cannot be any."""
        queue = body.queues[number]
        issued = queue.issued(point)
        if isinstance(issued, int):
            return 0
        variable = self._model.least(queue.most)
        self._model.add(variable == issued)
        return variable

    def _demand(self, body: Body, number: int, point: int, done: Linear) -> Linear:
        """The work that must be done at a point, as a variable."""
        queue = body.queues[number]
        demanded = queue.demanded(point)
        if isinstance(demanded, int):
            return 0
        variable = self._model.least(queue.most)
        self._model.add(variable == demanded)
        self._model.add(done >= variable)
        first_in_first_out(self._model, queue, point, done)
        return variable

    def _wait(self, state: _State, marks: list[_Mark], demands: Pair) -> None:
        """What is due was issued by a point, or done after it.

        The clock alone shows that, whatever each queue has done at which step. What
        follows from the steps as well is found much sooner so.
        """
        for mark in marks:
            late = [
                demanded - issued
                for demanded, issued in zip(demands, mark.issued, strict=True)
                if not isinstance(demanded, int)
            ]
            for work in (*late, sum(late)) if len(late) > 1 else late:
                self._model.add(state.room - mark.room >= work)

    def _advance(
        self,
        body: Body,
        state: _State,
        capacity: Linear,
        ahead: Pair,
        unknown: list[Lit],
    ) -> None:
        """Let both queues work for a step.

        Args:
            body: Whose queues.
            state: Is updated.
            capacity: The units that they have.
            ahead: The work issued before the step, which shares it for certain.
            unknown: Unless these are all false, it is not settled how they share.
        """
        after: list[Linear] = []
        for number, issued in enumerate(state.issued):
            if isinstance(issued, int):
                after.append(0)
                continue
            work = self._model.largest(body.queues[number].most)
            self._model.add(work >= state.done[number])
            self._model.add(work <= issued)
            after.append(work)
        grown = after[0] - state.done[0], after[1] - state.done[1]
        if any(not isinstance(x, int) for x in after):
            self._model.add(grown[0] + grown[1] <= capacity)
        if not any(isinstance(x, int) for x in after):
            for number in range(2):
                left = ahead[1 - number] - state.done[1 - number]
                self._share(grown[number], left, capacity, [*unknown, *body.spans])
        state.done = after[0], after[1]

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
