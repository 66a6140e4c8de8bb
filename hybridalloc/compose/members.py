"""The members of a composition: what they are called, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from hybridalloc.counting import counted, counted_outcome
from hybridalloc.errors import StrategyError, UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import Objective
from hybridalloc.problem import Problem
from hybridalloc.solver import UNANSWERED, Outcome, Run, Solver, Status


def as_solver(strategy: Solver | str) -> Solver:
    """The solver itself, or the one that a text names.

    Raises:
        UsageError: It is neither a solver nor the text of one.
    """
    if isinstance(strategy, str):
        from hybridalloc.compose.text import parse  # which composes what it reads

        return parse(strategy)
    # A caller without type checker may hand over anything.
    method: object = getattr(strategy, "solve", None)
    if isinstance(strategy, type) or not callable(method):
        expected = "expected a name or a solver object"
        if isinstance(strategy, type) and callable(method):
            expected += f"; did you mean {strategy.__name__}()?"
        raise UsageError(f"strategy {strategy!r}: {expected}")
    return strategy


def as_solvers(
    combinator: str, strategies: Iterable[Solver | str]
) -> tuple[Solver, ...]:
    """The members of a composition.

    Raises:
        ValueError: There are none.
        UsageError: One is neither a solver nor the text of one.
    """
    solvers = tuple(map(as_solver, strategies))
    if not solvers:
        raise ValueError(f"{combinator}: expected at least one solver")
    return solvers


def name_of(solver: Solver) -> str:
    """What to call a solver: its text, or its class where it has none."""
    kind = type(solver)
    if kind.__str__ is object.__str__:
        return kind.__name__
    return str(solver)


def asked(solver: Solver, problem: Problem, run: Run) -> Outcome:
    """What a solver hands back.

    Raises:
        StrategyError: That is no outcome.
    """
    # A caller without type checker may hand back anything.
    found: object = solver.solve(problem, run)
    if isinstance(found, Outcome):
        return found
    kind = "None" if found is None else f"a {type(found).__name__}"
    raise StrategyError(
        f"strategy {name_of(solver)} handed back {kind}; expected an Outcome"
    )


@dataclass
class Best:
    """The best map of the members that have run, by the run's objective."""

    problem: Problem
    run: Run
    """Of the composition."""
    map: MemoryMap | None = None
    score: float = math.inf
    """Of the map, by the objective."""
    bound: float | None = None
    """The largest that a member proved: each is a bound on every valid map."""
    objective: Objective = field(init=False)

    def __post_init__(self) -> None:
        self.objective = self.run.objective_of(self.problem)

    @property
    def is_enough(self) -> bool:
        """Whether time is up and there is something to hand back.

        With an objective of the run's own, that is its reference map at the least.
        """
        has_map = self.map is not None or self.run.objective is not None
        return has_map and self.run.expired

    def offer(self, memory_map: MemoryMap) -> None:
        """Keep and report a map if it is better."""
        if memory_map is self.map:
            return
        memory_map = counted(self.problem, memory_map)
        score = self.objective.score(memory_map)
        if score < self.score:
            self.run.report(memory_map)
            self.map, self.score = memory_map, score

    def after(
        self,
        solver: Solver,
        run: Run,
        offer: Callable[[MemoryMap], None] | None = None,
    ) -> Outcome:
        """Let a member run; what it hands back.

        Its maps go to ``offer``, or else are taken with credit to it. Where it runs out
        of time with ``TimeoutError``, what it has reported counts.
        That a map's time is optimal says nothing under an objective of the run's own.
        """
        bound = max(run.bound, self.bound or 0.0)
        credit = self.run.credit(name_of(solver)) if offer is None else nullcontext()
        offer = offer or self.offer
        with credit:
            try:
                outcome = asked(
                    solver, self.problem, replace(run, report=offer, bound=bound)
                )
            except TimeoutError:
                return UNANSWERED
            outcome = counted_outcome(self.problem, outcome)
            if outcome.map is not None:
                offer(outcome.map)
        bounds = [x for x in (self.bound, outcome.bound) if x is not None]
        self.bound = max(bounds, default=None)
        if outcome.status is Status.OPTIMAL and self.run.objective is not None:
            return replace(outcome, status=Status.FEASIBLE)
        proven = replace(run, bound=self.bound or 0.0)
        if self.map is not None and proven.is_met(self.score):
            return Outcome(self.map, Status.OPTIMAL, self.bound)
        return outcome

    def outcome(self, last: Outcome) -> Outcome:
        """What the members come to: a proof of the last, or else the best map."""
        if is_proof(last):
            return replace(last, bound=self.bound)
        if self.map is None:
            return replace(UNANSWERED, bound=self.bound)
        return Outcome(self.map, bound=self.bound)


def is_proof(outcome: Outcome) -> bool:
    """Whether no other member can do better."""
    return outcome.status in (Status.OPTIMAL, Status.INFEASIBLE)
