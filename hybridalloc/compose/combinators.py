"""Solvers made of solvers; they know no more of these than ``Solver`` and ``Run``."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from hybridalloc.compose.members import (
    Best,
    as_solver,
    as_solvers,
    asked,
    is_proof,
    name_of,
)
from hybridalloc.problem import Problem
from hybridalloc.solver import UNANSWERED, Outcome, Run, Solver


@dataclass(frozen=True, init=False)
class FirstOf:
    """The first solver that has a map answers; ``first(a,b)``.

    Each may take all the time that is left. One without an answer does not end the
    search, even after the deadline: the next one says what it has at once.
    """

    solvers: tuple[Solver, ...]

    def __init__(self, *solvers: Solver | str) -> None:
        object.__setattr__(self, "solvers", as_solvers("FirstOf", solvers))

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask one after the other until there is a map, or a proof of none."""
        best, outcome = Best(problem, run), UNANSWERED
        for solver in self.solvers:
            outcome = best.after(solver, run)
            if best.map is not None or is_proof(outcome) or best.is_enough:
                break
        return best.outcome(outcome)

    def __str__(self) -> str:
        return f"first({_listed(self.solvers)})"


@dataclass(frozen=True, init=False)
class BestOf:
    """All solvers run, one after the other, and the best map answers; ``best(a,b)``.

    Each has an equal share of the time that is left, but for those with a time of
    their own or a share of it: that is one of what is left when the first begins. A
    proof ends the search.
    """

    solvers: tuple[Solver, ...]

    def __init__(self, *solvers: Solver | str) -> None:
        object.__setattr__(self, "solvers", as_solvers("BestOf", solvers))

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask all; the same warm start for each."""
        best, outcome = Best(problem, run), UNANSWERED
        members = timed(run.remaining_s, self.solvers)
        for number, solver in enumerate(members):
            if best.is_enough:
                break
            seconds = allotted(run.remaining_s, members[number:])
            deadline = min(run.deadline, time.monotonic() + seconds)
            outcome = best.after(solver, replace(run, deadline=deadline))
            if is_proof(outcome):
                break
        return best.outcome(outcome)

    def __str__(self) -> str:
        return f"best({_listed(self.solvers)})"


@dataclass(frozen=True, init=False)
class Chain:
    """Each solver starts from the best map so far; ``a>b``.

    Never worse than any of them, nor than the warm start. Each may take all the time
    that is left. A proof ends the search.
    """

    solvers: tuple[Solver, ...]

    def __init__(self, *solvers: Solver | str) -> None:
        object.__setattr__(self, "solvers", as_solvers("Chain", solvers))

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask one after the other, each with the best map as its warm start."""
        best, outcome = Best(problem, run), UNANSWERED
        if run.warm_start is not None:
            best.offer(run.warm_start)
        for solver in self.solvers:
            if best.is_enough:
                break
            outcome = best.after(solver, replace(run, warm_start=best.map))
            if is_proof(outcome):
                break
        return best.outcome(outcome)

    def __str__(self) -> str:
        text = ">".join(map(_grouped, self.solvers))
        return text if len(self.solvers) > 1 else f"({text})"


@dataclass(frozen=True, init=False)
class Within:
    """A solver with a time of its own, within that of the whole; ``a@5s``."""

    solver: Solver
    seconds: float

    def __init__(self, solver: Solver | str, seconds: float) -> None:
        if not (math.isfinite(seconds) and seconds >= 0):
            raise ValueError(f"a time of {seconds} s: expected a finite number >= 0")
        object.__setattr__(self, "solver", as_solver(solver))
        object.__setattr__(self, "seconds", float(seconds))

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask the solver, with an earlier deadline."""
        deadline = min(run.deadline, time.monotonic() + self.seconds)
        return _credited(self.solver, problem, replace(run, deadline=deadline))

    def __str__(self) -> str:
        return f"{_grouped(self.solver)}@{repr(self.seconds).removesuffix('.0')}s"


@dataclass(frozen=True, init=False)
class Share:
    """A solver with a share of the time that is left when it begins; ``a@30%``.

    Without a time limit there is nothing to share, and it has no limit either.
    """

    solver: Solver
    percent: float

    def __init__(self, solver: Solver | str, percent: float) -> None:
        if not 0 <= percent <= 100:
            raise ValueError(f"{percent} % of the time: expected 0 to 100")
        object.__setattr__(self, "solver", as_solver(solver))
        object.__setattr__(self, "percent", float(percent) + 0.0)  # no -0.0

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask the solver, with an earlier deadline where there is one."""
        remaining_s = run.remaining_s
        if math.isfinite(remaining_s):
            return self.of(remaining_s).solve(problem, run)
        return _credited(self.solver, problem, run)

    def of(self, seconds: float) -> Within:
        """The solver with its share of these seconds as a time of its own."""
        return Within(self.solver, seconds * self.percent / 100)

    def __str__(self) -> str:
        return f"{_grouped(self.solver)}@{repr(self.percent).removesuffix('.0')}%"


def timed(remaining_s: float, solvers: tuple[Solver, ...]) -> tuple[Solver, ...]:
    """The solvers; those with a share have what it comes to as a time of their own.

    >>> [str(x) for x in timed(60.0, (Chain("slow"), Share("greedy", 30)))]
    ['(slow)', 'greedy@18s']
    """
    if math.isinf(remaining_s):
        return solvers
    return tuple(x.of(remaining_s) if isinstance(x, Share) else x for x in solvers)


def allotted(remaining_s: float, solvers: tuple[Solver, ...]) -> float:
    """The seconds that the first of the solvers may take of those that are left.

    One with a time of its own takes that. Of the rest, each takes as much as any
    other, once the times of those still to come are put aside; these count for no
    more than an equal share.

    >>> allotted(60.0, (Within("greedy", 5), Chain("slow"), Chain("random")))
    5.0
    >>> allotted(60.0, (Chain("slow"), Within("greedy", 5), Chain("random")))
    27.5
    >>> allotted(60.0, (Chain("slow"), Within("greedy", 50)))
    30.0
    """
    first, *others = solvers
    if isinstance(first, Within):
        return min(first.seconds, remaining_s)
    if math.isinf(remaining_s):
        return remaining_s
    equal_s = remaining_s / len(solvers)
    own = [min(x.seconds, equal_s) for x in others if isinstance(x, Within)]
    return (remaining_s - math.fsum(own)) / (len(solvers) - len(own))


def _credited(solver: Solver, problem: Problem, run: Run) -> Outcome:
    with run.credit(name_of(solver)):
        outcome = asked(solver, problem, run)
        if outcome.map is not None:
            run.report(outcome.map)  # while its finder has the credit
        return outcome


def _listed(solvers: tuple[Solver, ...]) -> str:
    return ",".join(map(name_of, solvers))


def _grouped(solver: Solver) -> str:
    """Its text within a chain or before a time."""
    text = name_of(solver)
    several = isinstance(solver, Chain) and len(solver.solvers) > 1
    return f"({text})" if several else text
