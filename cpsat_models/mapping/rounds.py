"""Rounds: solve the model, compare its answer with the truth, add what was missing."""

from __future__ import annotations

import math
import time
from enum import Enum, auto

from hybridalloc.cpsat_models.mapping.cuts import Cuts, has_both_queues
from hybridalloc.cpsat_models.mapping.engine import Ending, Engine, Watcher
from hybridalloc.cpsat_models.mapping.extraction import Values, extract
from hybridalloc.cpsat_models.mapping.formulation import Formulation
from hybridalloc.cpsat_models.mapping.incumbent import TOLERANCE, Incumbent
from hybridalloc.cpsat_models.mapping.limits import keeps_limits
from hybridalloc.cpsat_models.mapping.offsets import Conflict, Placement
from hybridalloc.memory_map import MemoryMap
from hybridalloc.solver import Run

ITERATION_S = 0.01
"""Seconds of work, as CP-SAT counts it deterministically, for each iteration."""


class Verdict(Enum):
    """What came of the rounds with one model."""

    DONE = auto()
    """The answer is proven, or time is up, or no more can be learned."""
    TOO_COARSE = auto()
    """Only the model with free due points tells more."""


class Rounds:
    """Solves one model again and again."""

    def __init__(
        self,
        formulation: Formulation,
        incumbent: Incumbent,
        placement: Placement,
        engine: Engine,
        run: Run,
    ) -> None:
        self._formulation = formulation
        self._incumbent = incumbent
        self._placement = placement
        self._engine = engine
        self._run = run
        self._cuts = Cuts(formulation, incumbent.simulator)
        self._cutoff = math.inf
        """Seconds; all solutions that are left are below."""
        self._exact = True
        """Whether nothing was cut off but what is known to be worse or impossible."""

    def all(self) -> Verdict:
        """Rounds until there is a verdict."""
        while not self._run.expired and not self._is_spent:
            self._cut_off()
            ending = self._engine.solve(
                self._formulation.model,
                Watcher(self._take),
                heed_bound=self._is_good_enough,
                deterministic_limit=self._deterministic_left,
            )
            if ending is Ending.INFEASIBLE:
                self._raise_bound(self._cutoff)
                return Verdict.DONE
            units = self._engine.solver.best_objective_bound
            self._raise_bound(self._formulation.units.seconds(units))
            if ending is Ending.STOPPED:
                return Verdict.DONE
            verdict = self._examine()
            if self._incumbent.is_proven:
                return Verdict.DONE
            if verdict is not None:
                return verdict
        return Verdict.DONE

    @property
    def _deterministic_left(self) -> float:
        if self._run.iterations is None:
            return math.inf
        return self._run.iterations * ITERATION_S - self._engine.deterministic_s

    @property
    def _is_spent(self) -> bool:
        return self._deterministic_left <= 0

    def _cut_off(self) -> None:
        """From here on only what is better than the best map is of interest."""
        seconds = self._incumbent.seconds * (1 - TOLERANCE / 4)
        if seconds < self._cutoff:
            formulation = self._formulation
            most = formulation.units.down(seconds)
            formulation.model.add(formulation.objective <= most)
            self._cutoff = seconds

    def _raise_bound(self, seconds: float) -> None:
        if self._exact:
            self._incumbent.bound = max(self._incumbent.bound, seconds)

    def _is_good_enough(self, bound: float) -> bool:
        self._raise_bound(self._formulation.units.seconds(bound))
        return self._incumbent.is_proven

    def _take(self, values: Values) -> None:
        """Make a map of a solution, if that is quickly done."""
        draft = extract(self._formulation.variables, values)
        placed = self._placement.place_quickly(draft)
        if placed is not None and self._is_valid(placed):
            self._incumbent.offer(placed)
        if self._incumbent.is_proven:
            self._engine.stop()

    def _is_valid(self, memory_map: MemoryMap) -> bool:
        """Whether it keeps to the limits that the model may leave out."""
        problem = self._formulation.variables.problem
        return self._formulation.limited or keeps_limits(problem, memory_map)

    def _examine(self) -> Verdict | None:
        """Compare the model's best solution with the truth; None: try again."""
        solver, formulation = self._engine.solver, self._formulation
        draft = extract(formulation.variables, solver.boolean_value)
        placed = self._placement.place(draft, self._run.deadline)
        if isinstance(placed, Conflict):
            reasons = {x.index: x for stay in placed.stays for x in stay.reasons}
            formulation.model.add_bool_or(*(~x for x in reasons.values()))
            self._exact &= placed.proven
            return None
        if not self._is_valid(placed):
            return Verdict.TOO_COARSE
        self._incumbent.offer(placed)
        if self._incumbent.is_proven:
            return Verdict.DONE
        if not formulation.free_dues and has_both_queues(placed):
            return Verdict.TOO_COARSE
        if self._cuts.add(placed, solver.boolean_value, self._amounts()):
            return None
        return Verdict.DONE if formulation.free_dues else Verdict.TOO_COARSE

    def _amounts(self) -> list[tuple[int, int]]:
        """(T+1,): units in stalls at each point and in the instruction, see ``Cuts``."""
        solver, formulation = self._engine.solver, self._formulation
        program, loops = formulation.variables.problem.program, formulation.variables.loops
        stalls, running = [0] * (len(program) + 1), [0] * (len(program) + 1)
        for (body, point), stall in formulation.stalls.of.items():
            stalls[point] += int(loops.trips(body)) * solver.value(stall)
        for t, x in enumerate(formulation.times):
            running[t] = program.multiplicity[t] * solver.value(x.elapsed)
        return list(zip(stalls, running, strict=True))
