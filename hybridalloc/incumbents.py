"""The incumbents of one search: every map offered is scored, the better checked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hybridalloc.counting import counted, counted_outcome
from hybridalloc.errors import StrategyError, UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import Robust
from hybridalloc.solver import Incumbent, Outcome, Status

if TYPE_CHECKING:
    from hybridalloc.simulator import Simulation, Simulator

ROUNDING = 1e-6
"""By how much of a map's time a claim about it may be off."""
CHECKING_SHARE = 0.1
"""The share of the search that may go into checks, after ``FREE_CHECKING_S``."""
FREE_CHECKING_S = 1.0
LEAST_GRACE_S = 1.0
GRACE_SHARE = 0.1
"""The answer may come this share of the time limit after it, or ``LEAST_GRACE_S``."""
QUICK_S = 0.1
"""Seconds of a check that is done however late it is."""
INSTRUCTIONS_PER_ALLOCATION = 12
"""How many instructions take the checker as long as one allocation, as measured."""
WARM_START = "warm start"


@dataclass(frozen=True, slots=True)
class _Candidate:
    map: MemoryMap
    component: str


@dataclass
class Incumbents:
    """The best map so far and those before it.

    A map that is no better is not checked. Where better ones come so fast that to
    check each would take up much of the search, the best of them waits, unchecked,
    for the next one or for the end.
    """

    simulator: Simulator
    component: str
    """What searches at the moment."""
    time_limit: float
    """Seconds."""
    callback: Callable[[Incumbent], None] | None = None
    objective: Robust | None = None
    """What decides which map is better; ``None``: its simulated time."""
    started: float = field(init=False)
    history: list[Incumbent] = field(default_factory=list)
    simulation: Simulation | None = None
    """Of the best map."""
    _waiting: _Candidate | None = None
    """The best map, better than the incumbent, that is still to be checked."""
    _best_score: float = math.inf
    """Of the best map that was checked, by the objective."""
    _simulated: tuple[MemoryMap, Simulation] | None = None
    """What was simulated last."""
    _scored: tuple[MemoryMap, float] | None = None
    """What was scored last."""
    _checking_s: float = 0.0
    """Seconds that checks have taken."""
    _check_rate: float = 0.0
    """Seconds of the latest check for each of its units of work."""

    def __post_init__(self) -> None:
        self.started = time.monotonic()

    @property
    def least_s(self) -> float:
        """The least time of a map that was checked; infinite without one."""
        return min((incumbent.time for incumbent in self.history), default=math.inf)

    @contextmanager
    def credit(self, component: str) -> Iterator[None]:
        """What is offered in this block was found by the component."""
        outer, self.component = self.component, component
        try:
            yield
        finally:
            self.component = outer

    def start_from(self, warm_start: MemoryMap) -> None:
        """Take a warm start.

        Raises:
            UsageError: It is not valid.
        """
        self._waiting = _Candidate(warm_start, WARM_START)
        self.settle()

    def offer(self, memory_map: MemoryMap) -> None:
        """Take a map if it is better than the best so far.

        Raises:
            StrategyError: It would be the best, and is not valid.
        """
        memory_map = counted(self.simulator.problem, memory_map)
        rival = self._best_score
        if self._waiting is not None:
            rival = self._score(self._waiting.map)
        if self._score(memory_map) < rival:
            self._waiting = _Candidate(memory_map, self.component)
            if not self._may_wait(memory_map):
                self.settle()

    def settle(self) -> None:
        """Check the map that waits, unless the answer would come too late for that.

        Ctrl-C leaves it waiting.

        Raises:
            StrategyError: It is not valid.
            UsageError: It is the warm start, and not valid.
        """
        candidate = self._waiting
        if candidate is None:
            return
        if self.history and self._is_late(candidate.map):
            self._waiting = None
            return
        self._require_valid(candidate)
        simulation = self._simulate(candidate.map)
        score = self._score(candidate.map)
        runtime = time.monotonic() - self.started
        self.simulation, self._waiting = simulation, None
        self._best_score = score
        self.history.append(
            Incumbent(candidate.map, simulation.time_s, runtime, candidate.component)
        )
        if self.callback is not None:
            self.callback(self.history[-1])

    def conclude(self, outcome: Outcome) -> Outcome:
        """Judge what a strategy hands back; what of it holds.

        Raises:
            StrategyError: Its map is not valid, or a claim contradicts the best map.
        """
        outcome = counted_outcome(self.simulator.problem, outcome)
        if outcome.map is not None:
            self.offer(outcome.map)
        self.settle()
        handed_s = math.inf
        if outcome.map is not None:
            handed_s = self._simulate(outcome.map).time_s
            if self._best_score > self._score(outcome.map):  # too late to be checked
                return Outcome(None, Status.UNKNOWN, outcome.bound)
            is_best = outcome.map == self.history[-1].map
            if not is_best and not self._is_late(outcome.map):
                self._require_valid(_Candidate(outcome.map, self.component))
        self._examine(outcome, handed_s)
        return outcome

    def _examine(self, outcome: Outcome, handed_s: float) -> None:
        best_s, claim = self.least_s, None
        if not self.history:
            return
        if outcome.status is Status.INFEASIBLE:
            claim = "calls infeasible what has a valid map"
        elif outcome.status is Status.OPTIMAL and _exceeds(handed_s, best_s):
            claim = f"calls a map of {handed_s} s optimal, yet one of {best_s} s is"
            claim += " valid"
        elif outcome.bound is not None and _exceeds(outcome.bound, best_s):
            claim = f"claims a bound of {outcome.bound} s, yet a map of {best_s} s is"
            claim += " valid"
        if claim is not None:
            raise StrategyError(f"strategy {self.component} {claim}")

    def _may_wait(self, memory_map: MemoryMap) -> bool:
        elapsed = time.monotonic() - self.started
        affordable = FREE_CHECKING_S + CHECKING_SHARE * elapsed
        busy = self._checking_s > affordable
        # At the end there must be time for it, even if the strategy overruns a little.
        return busy and self._check_s(memory_map) < self._grace_s / 2

    def _is_late(self, memory_map: MemoryMap) -> bool:
        latest = self.started + self.time_limit + self._grace_s
        remaining_s = max(QUICK_S, latest - time.monotonic())
        return self._check_s(memory_map) > remaining_s

    @property
    def _grace_s(self) -> float:
        return max(LEAST_GRACE_S, GRACE_SHARE * self.time_limit)

    def _check_s(self, memory_map: MemoryMap) -> float:
        """How long a check may take, by the latest."""
        return self._check_rate * self._work(memory_map)

    def _work(self, memory_map: MemoryMap) -> int:
        instructions = len(self.simulator.problem.program)
        return 1 + instructions + INSTRUCTIONS_PER_ALLOCATION * len(memory_map)

    def _simulate(self, memory_map: MemoryMap) -> Simulation:
        if self._simulated is None or self._simulated[0] is not memory_map:
            self._simulated = memory_map, self.simulator.simulate(memory_map)
        return self._simulated[1]

    def _score(self, memory_map: MemoryMap) -> float:
        if self.objective is None:
            return self._simulate(memory_map).time_s
        if self._scored is None or self._scored[0] is not memory_map:
            self._scored = memory_map, self.objective.score(memory_map)
        return self._scored[1]

    def _require_valid(self, candidate: _Candidate) -> None:
        from hybridalloc.checker import check

        begun = time.monotonic()
        violations = check(self.simulator.problem, candidate.map)
        seconds = time.monotonic() - begun
        self._checking_s += seconds
        self._check_rate = seconds / self._work(candidate.map)
        if not violations:
            return
        message, component = violations[0].message, candidate.component
        if component == WARM_START:
            raise UsageError(f"the warm start is not a valid map: {message}")
        raise StrategyError(
            f"strategy {component} handed back an invalid map: {message}"
        )


def _exceeds(seconds: float, best_s: float) -> bool:
    """Whether a time, if it is one, is above another beyond rounding."""
    return not seconds <= best_s * (1 + ROUNDING)
