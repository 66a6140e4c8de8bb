"""What a strategy is: one method behind one protocol, and what it hands back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import Objective, Robust, Time
from hybridalloc.problem import Problem

PROOF_TOLERANCE = 1e-5
"""By which part of a lower bound a time may exceed it and still count as optimal."""


def is_optimal(time_s: float, bound_s: float) -> bool:
    """Whether a lower bound proves that no time is less than this one.

    >>> is_optimal(1.000009, 1.0), is_optimal(1.00002, 1.0)
    (True, False)
    """
    return time_s <= bound_s * (1 + PROOF_TOLERANCE)


class Status(StrEnum):
    """What is known about an answer."""

    OPTIMAL = "optimal"
    """No valid map is faster: proven. Never said of an answer to a robust objective,
    which another map may serve better."""
    FEASIBLE = "feasible"
    """A valid map, perhaps not the best."""
    INFEASIBLE = "infeasible"
    """No valid map exists: proven."""
    UNKNOWN = "unknown"
    """No map was found, and none is known not to exist."""


@dataclass(frozen=True, slots=True)
class Infeasibility:
    """Why no valid map exists."""

    instruction: int
    """Where fast memory does not suffice, as an index into the schedule."""
    excess_bytes: int
    """By how much what must be there exceeds what fits."""
    culprits: tuple[str, ...]
    """The names of the buffers that must be there."""


def _ignore(_: MemoryMap) -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Run:
    """How one run of a strategy goes: its limits, its seed, and where it starts."""

    deadline: float = math.inf
    """When to be done, in seconds of ``time.monotonic()``."""
    iterations: int | None = None
    """The most iterations, of whatever the strategy iterates; ``None``: no limit."""
    seed: int = 0
    workers: int = 1
    """How many processes or threads may work at a time."""
    warm_start: MemoryMap | None = None
    """A valid map to start from, where the strategy can."""
    bound: float = 0.0
    """Seconds that no valid map beats, as others have proven: a map that meets it needs
    no more search."""
    report: Callable[[MemoryMap], None] = _ignore
    """Takes each better map as soon as it is found: what is lost if the run ends."""
    credit: Callable[[str], AbstractContextManager[object]] = nullcontext
    """Within ``with run.credit(name):``, what is reported was found by that
    component; of several, the innermost. For strategies that have others work."""
    is_over: Callable[[], bool] = _never
    """Whether to be done before the deadline: what is asked in the inner loops of a
    strategy that runs beside others."""
    objective: Robust | None = None
    """What to make small instead of the time; ``None``: the simulated time under the
    problem's own cost model. A strategy that does not know it works as ever: its maps
    count if they are worse under neither model."""

    def __post_init__(self) -> None:
        if self.iterations is not None and self.iterations < 0:
            raise ValueError(f"run: iterations {self.iterations} is negative")
        if self.workers < 1:
            raise ValueError(f"run: workers {self.workers} is not >= 1")

    def objective_of(self, problem: Problem) -> Objective:
        """What decides between two maps of the problem."""
        return Time(problem) if self.objective is None else self.objective

    def is_met(self, time_s: float) -> bool:
        """Whether the bound proves that no map beats one of this time."""
        return self.objective is None and is_optimal(time_s, self.bound)

    @property
    def remaining_s(self) -> float:
        """Seconds until the deadline, at least 0; infinite without one."""
        return max(0.0, self.deadline - time.monotonic())

    def until(self, share: float) -> float:
        """When a share of the time left has passed, in seconds of ``time.monotonic()``.

        Infinite without a deadline.
        """
        if math.isinf(self.deadline):
            return self.deadline
        return self.deadline - (1 - share) * self.remaining_s

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed, or the run is over before."""
        return self.remaining_s <= 0 or self.is_over()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a strategy hands back; ``solve`` checks it and makes it a ``Result``."""

    map: MemoryMap | None
    status: Status = Status.FEASIBLE
    """``OPTIMAL`` and ``INFEASIBLE`` only with a proof. What is optimal is the time
    under the problem's cost model, whatever the run's objective."""
    bound: float | None = None
    """Seconds that no valid map can beat, if the strategy proves any."""
    infeasibility: Infeasibility | None = None

    def __post_init__(self) -> None:
        answered = self.status in (Status.OPTIMAL, Status.FEASIBLE)
        if answered != (self.map is not None):
            map_is = "a map" if self.map is not None else "no map"
            raise ValueError(f"outcome: status {self.status} with {map_is}")


UNANSWERED = Outcome(None, Status.UNKNOWN)
"""No map was found."""


class Solver(Protocol):
    """A strategy."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Look for the valid map of least simulated time.

        It neither prints nor checks itself, and honours ``run``: the same seed, one
        worker and a limit on iterations give the same map. It may raise
        ``TimeoutError`` at the deadline; what it has reported then counts.

        Args:
            problem: What to solve. Only ``replay`` may read its ``compiler_map``.
            run: Limits, seed and warm start.
        """
        ...


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The best map so far, at the moment it was found."""

    map: MemoryMap
    time: float
    """Its simulated seconds under the problem's cost model. Under a robust objective
    it may be more than that of the incumbent before."""
    runtime: float
    """Seconds since the start of the run."""
    found_by: str
    """The component that found it: a strategy, or ``warm start``."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a map uses."""

    peak_bytes: int
    """The highest address of fast memory in use."""
    fragmentation: float
    """The part of the peak that allocations never hold at one time (0 to 1)."""
    moved_bytes: int
    """By all copies, each as often as it runs."""
    stall_s: float
    """Seconds in which the program waits for copies."""


@dataclass(frozen=True, slots=True)
class Result:
    """An answer that has passed the checker, and what is known about it."""

    strategy: str
    seed: int
    status: Status
    map: MemoryMap | None
    time: float | None
    """Simulated seconds of one run under the problem's cost model; ``None`` without a
    map."""
    bound: float | None
    """Seconds that no valid map can beat; ``None`` if none is proven."""
    runtime: float
    """Seconds that the search took."""
    history: tuple[Incumbent, ...]
    """Each map that was better than all before it, by the objective."""
    warm_start_used: bool
    """Whether the search was given a map to start from."""
    metrics: Metrics | None
    infeasibility: Infeasibility | None = None
    times_s: Mapping[str, float] | None = None
    """Under a robust objective, the seconds under each cost model by its name."""
    speedups_vs_start: Mapping[str, float] | None = None
    """With these, the warm start's seconds under each over them: none is below 1."""

    @property
    def gap(self) -> float | None:
        """How far the time may be from the best possible: time / bound - 1."""
        return gap(self.time, self.bound)


def gap(time_s: float | None, bound_s: float | None) -> float | None:
    """How far a time is above a lower bound, as a part of it; ``None`` if not known.

    >>> gap(30.0, 24.0), gap(30.0, 0.0), gap(0.0, 0.0), gap(30.0, None)
    (0.25, inf, 0.0, None)
    """
    if time_s is None or bound_s is None:
        return None
    if bound_s == 0:
        return 0.0 if time_s == 0 else math.inf
    return time_s / bound_s - 1
