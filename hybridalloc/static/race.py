"""The default strategy: what is fast first, then what is thorough, side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace

from hybridalloc.beside import beside
from hybridalloc.solver import Run
from hybridalloc.static.problem import StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement, StaticSolver
from hybridalloc.static.strategies import static_solver


@dataclass(frozen=True, slots=True)
class RaceOptions:
    """The options of the race."""

    head_start_s: float = 10.0
    """The time that the branch and bound has before the exact model joins it."""
    share: float = 0.4
    """With one worker, the part of the time after which the exact model follows it."""

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"share {self.share} is not in [0, 1]")


class Race:
    """Fits, then branch and bound and the exact model: whichever knows first."""

    def __init__(self, config: RaceOptions | None = None) -> None:
        self.config = config or RaceOptions()
        self._fits = static_solver("fits")

    def solve(self, problem: StaticProblem, run: Run) -> Placement:
        """Look for offsets within the capacity, or a proof that there are none."""
        found = self._fits.solve(problem, run)
        if found.is_answer or run.expired:
            return found
        searching = static_solver("branch-and-bound")
        if run.workers > 1:
            return self._together(searching, problem, run)
        until = run.until(self.config.share)
        found = searching.solve(problem, replace(run, deadline=until))
        return found if found.is_answer else _exact(problem, run)

    def _together(
        self, searching: StaticSolver, problem: StaticProblem, run: Run
    ) -> Placement:
        """Branch and bound, joined later by the exact model with one worker."""
        over = threading.Event()
        own = replace(run, workers=run.workers - 1, is_over=_either(run, over))
        beginning = time.monotonic()
        results: list[Placement | Exception] = []

        def search() -> None:
            try:
                results.append(searching.solve(problem, own))
            except Exception as error:
                results.append(error)
            if results[0] != UNDECIDED:
                over.set()

        with closing(beside(search, over.set)) as waiting:
            for _ in waiting:
                if time.monotonic() > beginning + self.config.head_start_s:
                    found = _exact(problem, replace(own, workers=1))
                    if found.is_answer:
                        return found
                    break
            for _ in waiting:
                pass
        if isinstance(results[0], Exception):
            raise results[0]
        return results[0] if results[0].is_answer else _exact(problem, run)


def _exact(problem: StaticProblem, run: Run) -> Placement:
    if run.expired:
        return UNDECIDED
    return static_solver("packing").solve(problem, run)


def _either(run: Run, over: threading.Event) -> Callable[[], bool]:
    return lambda: run.is_over() or over.is_set()
