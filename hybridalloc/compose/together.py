"""Solvers side by side, each in a thread of its own but for the first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

from hybridalloc.compose.combinators import BestOf
from hybridalloc.compose.members import Best, as_solvers, is_proof, name_of
from hybridalloc.interruption import postponed
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run, Solver

_POLL_S = 0.05


@dataclass(frozen=True, init=False)
class Together:
    """All solvers run at the same time, and the best map answers; ``together(a,b)``.

    The first works in the calling thread, which alone hears Ctrl-C: it may be any
    strategy; the others must do without that. Each has an equal part of the workers;
    where there are fewer workers than solvers, they run one after the other, as in
    ``best``. A proof ends all.
    """

    solvers: tuple[Solver, ...]

    def __init__(self, *solvers: Solver | str) -> None:
        object.__setattr__(self, "solvers", as_solvers("Together", solvers))

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Ask all; the same warm start for each."""
        if run.workers < len(self.solvers):
            return BestOf(*self.solvers).solve(problem, run)
        return _Joint(problem, run).solve(self.solvers)

    def __str__(self) -> str:
        return f"together({','.join(map(name_of, self.solvers))})"


class _Joint:
    """One run of several solvers."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self._problem, self._run = problem, run
        self._best = Best(problem, run)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._outcomes: list[Outcome] = []
        self._errors: list[BaseException] = []

    def solve(self, solvers: tuple[Solver, ...]) -> Outcome:
        """Run all until each is done, one has a proof or an error, or Ctrl-C."""
        workers = self._run.workers // len(solvers)
        first, *others = solvers
        ended = [threading.Event() for _ in others]
        threads = [
            threading.Thread(target=self._attempt, args=(x, workers, y), daemon=True)
            for x, y in zip(others, ended, strict=True)
        ]
        try:
            with postponed():
                for thread in threads:
                    thread.start()
            self._ask(first, self._run.workers - workers * len(others))
            while not (self._stop.is_set() or all(x.is_set() for x in ended)):
                self._stop.wait(_POLL_S)
        finally:
            self._end(threads, ended)
        if self._errors:
            raise self._errors[0]
        proofs = [x for x in self._outcomes if is_proof(x)]
        return self._best.outcome(proofs[0] if proofs else self._outcomes[-1])

    def _end(
        self, threads: list[threading.Thread], ended: list[threading.Event]
    ) -> None:
        """Wait until no thread works any more, whatever Ctrl-C says."""
        for thread, has_ended in zip(threads, ended, strict=True):
            while thread.ident is not None and not has_ended.is_set():
                with suppress(KeyboardInterrupt):
                    self._stop.set()
                    has_ended.wait(_POLL_S)
        self._stop.set()

    def _attempt(self, solver: Solver, workers: int, ended: threading.Event) -> None:
        try:
            self._ask(solver, workers)
        except BaseException as error:  # handed on by the calling thread
            self._errors.append(error)
            self._stop.set()
        finally:
            ended.set()

    def _ask(self, solver: Solver, workers: int) -> None:
        run = replace(
            self._run, workers=workers, is_over=self._is_over, credit=nullcontext
        )
        outcome = self._best.after(solver, run, offer=self._offer_of(solver))
        self._outcomes.append(outcome)
        if is_proof(outcome):
            self._stop.set()

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._run.is_over()

    def _offer_of(self, solver: Solver) -> Callable[[MemoryMap], None]:
        """Takes the maps of one solver, one at a time."""

        def offer(memory_map: MemoryMap) -> None:
            with self._lock, self._run.credit(name_of(solver)):
                self._best.offer(memory_map)

        return offer
