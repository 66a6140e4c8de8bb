"""The variables of the model: literals for each buffer's life, and nothing else.

Points of copies are order-encoded: the literal of a point says that the copy is issued
(or due) at that point or earlier, so that what is in flight at an instruction is a
difference of two literals, and load and work are sums of few terms.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ortools.sat.python import cp_model

from hybridalloc.cpsat_models.mapping.lives import Life, Window
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Loop
from hybridalloc.timeline import Kind

Lit: TypeAlias = Any
"""A Boolean variable of CP-SAT, or its negation."""
Linear: TypeAlias = Any
"""A linear expression of CP-SAT, a variable or a number."""


class Model(cp_model.CpModel):  # type: ignore[misc]  # whose types are skipped
    """A CP-SAT model with the two constant literals."""

    def __init__(self, deadline: float = math.inf) -> None:
        """Nothing is in it yet.

        Args:
            deadline: In seconds of ``time.monotonic()``; it is built by then or not.
        """
        super().__init__()
        self.deadline = deadline
        self.true: Lit = self.new_constant(1)
        self.false: Lit = self.new_constant(0)
        self._literals: list[cp_model.IntVar] = []
        self._numbers: list[tuple[cp_model.IntVar, cp_model.IntVar]] = []

    def literal(self) -> Lit:
        """A new Boolean variable."""
        variable = self.new_bool_var("")
        self._literals.append(variable)
        return variable

    def require_time(self) -> None:
        """Give up building after the deadline.

        Raises:
            TimeoutError: It has passed.
        """
        if time.monotonic() > self.deadline:
            raise TimeoutError

    def least(self, most: int) -> cp_model.IntVar:
        """A new whole number from 0 on that is best at its least value."""
        variable = self.new_int_var(0, most, "")
        self._numbers.append((variable, cp_model.SELECT_MIN_VALUE))
        return variable

    def largest(self, most: int) -> cp_model.IntVar:
        """A new whole number from 0 on that is best at its largest value."""
        variable = self.new_int_var(0, most, "")
        self._numbers.append((variable, cp_model.SELECT_MAX_VALUE))
        return variable

    def decide(self) -> None:
        """Say in which order to decide: literals, then numbers as they come in time.

        Without this CP-SAT may walk through a range of millions one by one.
        """
        self.add_decision_strategy(
            self._literals, cp_model.CHOOSE_FIRST, cp_model.SELECT_MIN_VALUE
        )
        for variable, value in self._numbers:
            self.add_decision_strategy([variable], cp_model.CHOOSE_FIRST, value)

    def literal_if(self, possible: bool) -> Lit:
        """A new Boolean variable, or false."""
        return self.literal() if possible else self.false


@dataclass(frozen=True, slots=True)
class CopyVariables:
    """A copy: whether it is made, and when."""

    window: Window
    made: Lit
    issued: tuple[Lit, ...]
    """(issues,): whether it is issued at that point or earlier; the last is ``made``.
    """
    ready: tuple[Lit, ...]
    """(dues,): whether it is due at that point or earlier; the last is ``made``."""

    def issued_by(self, point: int) -> Lit | None:
        """Whether it is issued at a point or earlier; None: it cannot be."""
        index = bisect_right(self.window.issues, point) - 1
        return None if index < 0 else self.issued[index]

    def ready_by(self, point: int) -> Lit | None:
        """Whether it is due at a point or earlier; None: it cannot be."""
        index = bisect_right(self.window.dues, point) - 1
        return None if index < 0 else self.ready[index]


@dataclass
class LifeVariables:
    """The literals of one buffer."""

    life: Life
    fast: list[Lit]
    """(nodes,): the access is served from fast memory, or the buffer is held there at
    the gate."""
    held: list[Lit]
    """(nodes + 1,): held in fast memory through the whole segment, from the node before
    it, or the program's start, to the next, or the program's end."""
    fetches: dict[int, CopyVariables]
    """By segment."""
    evictions: dict[int, CopyVariables]
    """By segment."""
    tails: list[CopyVariables]
    """The copies of a cross-program prefetch for the next run."""
    restored: dict[int, Lit]
    """At the exit of a loop that ends with the program: the tail's copy, made in every
    iteration, has brought back what was there at the loop's entry."""
    before: list[Lit] = field(default_factory=list)
    """(nodes + 1,): the slow copy is valid at the end of the segment."""
    after: list[Lit] = field(default_factory=list)
    """(nodes,): the slow copy is valid after the node."""

    @property
    def crosses(self) -> Lit:
        """Whether it is there when the program starts."""
        return self.held[0]

    def copies(self) -> Iterator[CopyVariables]:
        """All copies from slow memory."""
        yield from self.fetches.values()
        yield from self.tails


@dataclass(frozen=True)
class Variables:
    """All literals of the model."""

    model: Model
    problem: Problem
    loops: Loops
    lives: tuple[LifeVariables, ...]
    fast: dict[tuple[int, int], Lit]
    """By instruction and buffer: whether the access is served from fast memory."""

    @property
    def fetches(self) -> list[CopyVariables]:
        """All that waits in the queue of prefetches."""
        return [copy for life in self.lives for copy in life.copies()]

    @property
    def evictions(self) -> list[CopyVariables]:
        """All that waits in the queue of evictions."""
        return [copy for life in self.lives for copy in life.evictions.values()]


def make_variables(
    model: Model, problem: Problem, loops: Loops, lives: tuple[Life, ...]
) -> Variables:
    """The literals of all buffers that may be in fast memory."""
    made = tuple(_life_variables(model, life) for life in lives)
    fast = {}
    for variables in made:
        model.require_time()
        nodes = variables.life.timeline.nodes
        for node, literal in zip(nodes, variables.fast, strict=True):
            if node.kind is Kind.ACCESS:
                fast[node.point, variables.life.buffer] = literal
    return Variables(model, problem, loops, made, fast)


def _life_variables(model: Model, life: Life) -> LifeVariables:
    fast = _fast(model, life)
    held = [model.literal_if(life.crosses and life.live[0])]
    for k in range(1, len(life)):
        possible = life.live[k] and fast[k - 1] is not model.false
        held.append(model.literal_if(possible and fast[k] is not model.false))
    held.append(model.literal_if(life.crosses))
    return LifeVariables(
        life,
        fast,
        held,
        {k: _copy(model, window) for k, window in life.fetches.items()},
        {k: _copy(model, window) for k, window in life.evictions.items()},
        [_copy(model, window) for window in life.tails],
        _restored(model, life),
    )


def _fast(model: Model, life: Life) -> list[Lit]:
    """One literal for both gates of a loop that the buffer is live across.

    Where two loops end together it may be there at the inner one's exit alone, and so
    be handed over to the exit of the outer one.
    """
    fast: list[Lit] = []
    timeline = life.timeline
    for k, node in enumerate(timeline.nodes):
        if node.kind is Kind.ACCESS:
            fast.append(model.true if life.pinned else model.literal())
            continue
        assert node.loop is not None
        if node.kind is Kind.ENTRY:
            fast.append(model.literal_if(timeline.live_across(node.loop)))
        elif timeline.live_across(node.loop) and not life.ends_with_another(k):
            fast.append(fast[timeline.gates(node.loop)[0]])
        elif timeline.live_across(node.loop):
            fast.append(model.literal())
        else:
            fast.append(model.literal_if(life.live[k + 1]))
    return fast


def _copy(model: Model, window: Window) -> CopyVariables:
    made = model.literal()
    issued = [model.literal() for _ in window.issues[1:]]
    ready = [model.literal() for _ in window.dues[1:]]
    return CopyVariables(window, made, (*issued, made), (*ready, made))


def _restored(model: Model, life: Life) -> dict[int, Lit]:
    """By node: whether the tail's copy is what is held at the exit of a loop."""
    bodies: list[Loop] = [x.body for x in life.tails if x.body is not None]
    return {
        k: model.literal()
        for k, node in enumerate(life.timeline.nodes)
        if node.kind is Kind.EXIT and node.loop is not None
        if any(
            node.loop.encloses(body) and node.loop.end == body.end for body in bodies
        )
    }
