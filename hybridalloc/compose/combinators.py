"""Solvers made of solvers; they know no more of these than ``Solver`` and ``Run``."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from hybridalloc.compose.members import Best, as_solver, as_solvers, is_proof, name_of
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
            if best.map is not None or is_proof(outcome):
                break
        return best.outcome(outcome)

    def __str__(self) -> str:
        return f"first({_listed(self.solvers)})"


@dataclass(frozen=True, init=False)
class BestOf:
    """All solvers run, one after the other, and the best map answers; ``best(a,b)``.

    Each has an equal share of the time that is left, but for those with a time of
    their own. A proof ends the search.
    """

    solvers: tuple[Solver, ...]

    def __init__(self, *solvers: Solver | str) -> None:
        object.__setattr__(self, "solvers", as_solvers("BestOf", solvers))

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask all; the same warm start for each."""
        best, outcome = Best(problem, run), UNANSWERED
        for number, solver in enumerate(self.solvers):
            if best.map is not None and run.expired:
                break
            seconds = share(run.remaining_s, self.solvers[number:])
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
            if best.map is not None and run.expired:
                break
            outcome = best.after(solver, replace(run, warm_start=best.map))
            if is_proof(outcome):
                break
        return best.outcome(outcome)

    def __str__(self) -> str:
        text = ">".join(map(_grouped, self.solvers))
        return text if len(self.solvers) > 1 else f"({text})"


@dataclass(frozen=True)
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
        with run.credit(name_of(self.solver)):
            outcome = self.solver.solve(problem, replace(run, deadline=deadline))
            if outcome.map is not None:
                run.report(outcome.map)  # while its finder has the credit
            return outcome

    def __str__(self) -> str:
        return f"{_grouped(self.solver)}@{repr(self.seconds).removesuffix('.0')}s"


def share(remaining_s: float, solvers: tuple[Solver, ...]) -> float:
    """The seconds that the first of the solvers may take of those that are left.

    One with a time of its own takes that. Of the rest, each takes as much as any
    other, once the times of those still to come are put aside; these count for no
    more than an equal share.

    >>> share(60.0, (Within("greedy", 5), Chain("slow"), Chain("random")))
    5.0
    >>> share(60.0, (Chain("slow"), Within("greedy", 5), Chain("random")))
    27.5
    >>> share(60.0, (Chain("slow"), Within("greedy", 50)))
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


def _listed(solvers: tuple[Solver, ...]) -> str:
    return ",".join(map(name_of, solvers))


def _grouped(solver: Solver) -> str:
    """Its text within a chain or before a time."""
    text = name_of(solver)
    several = isinstance(solver, Chain) and len(solver.solvers) > 1
    return f"({text})" if several else text
