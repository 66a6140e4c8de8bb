"""What a solution of the model is worth, and what it teaches the model."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum, auto

from hybridalloc.cpsat_models.mapping.capacity import forbid
from hybridalloc.cpsat_models.mapping.cuts import Cuts, has_both_queues
from hybridalloc.cpsat_models.mapping.extraction import Values, extract
from hybridalloc.cpsat_models.mapping.formulation import Formulation
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.mapping.limits import keeps_limits
from hybridalloc.cpsat_models.mapping.offsets import Conflict, Placement
from hybridalloc.cpsat_models.mapping.variables import Linear
from hybridalloc.memory_map import MemoryMap
from hybridalloc.solver import PROOF_TOLERANCE


class Verdict(Enum):
    """What came of a solution, or of all of them."""

    LEARNED = auto()
    """The model has a further constraint: solve it again."""
    DONE = auto()
    """The answer is proven, or time is up, or no more can be learned."""
    TOO_COARSE = auto()
    """Only the model with free due points tells more."""


class Examiner:
    """Makes maps of the solutions of one model."""

    def __init__(
        self,
        formulation: Formulation,
        incumbent: Incumbent,
        placement: Placement,
    ) -> None:
        self.formulation = formulation
        self.incumbent = incumbent
        self._placement = placement
        self._cuts = Cuts(formulation, incumbent.simulator)
        self._cutoff = math.inf
        self._is_exact = True
        """Whether nothing was cut off but what is known to be worse or impossible."""

    def take(self, values: Values) -> bool:
        """Make a map of a solution, if that is quickly done: whether it is the best."""
        draft = extract(self.formulation.variables, values)
        placed = self._placement.place_quickly(draft)
        if placed is None or not self._is_valid(placed):
            return False
        before = self.incumbent.seconds
        return self.incumbent.offer(placed) < before

    def forbid(self, values: Values) -> bool:
        """Exclude a solution without offsets, and those like it: whether it is one."""
        return self._place(values) is None

    def _place(self, values: Values) -> MemoryMap | None:
        """The map of a solution; it and those like it are excluded if there is none."""
        variables = self.formulation.variables
        placed = self._placement.place(extract(variables, values))
        if isinstance(placed, Conflict):
            forbid(variables, placed)
            self._is_exact &= placed.proven
            return None
        if self._is_valid(placed):
            self.incumbent.offer(placed)
        return placed

    def examine(self, values: Values, value: Callable[[Linear], int]) -> Verdict:
        """Compare the model's best solution with the truth.

        Args:
            values: Whether a literal is true.
            value: What an expression comes to.
        """
        placed = self._place(values)
        if placed is None:
            return Verdict.LEARNED
        if self.incumbent.is_proven:
            return Verdict.DONE
        formulation = self.formulation
        is_mixed = not formulation.free_dues and has_both_queues(placed)
        if is_mixed or not self._is_valid(placed):
            return Verdict.TOO_COARSE
        if self._cuts.add(placed, values, value):
            return Verdict.LEARNED
        return Verdict.DONE if formulation.free_dues else Verdict.TOO_COARSE

    def _is_valid(self, memory_map: MemoryMap) -> bool:
        """Whether it keeps to the limits that the model may leave out."""
        problem = self.formulation.variables.problem
        return self.formulation.limited or keeps_limits(problem, memory_map)

    def raise_bound(self, units: float) -> None:
        """No solution of the model is below."""
        if self._is_exact:
            seconds = min(self._cutoff, self.formulation.units.seconds(units))
            self.incumbent.bound = max(self.incumbent.bound, seconds)

    def cut_off(self) -> None:
        """From here on only what is better than the best map is of interest."""
        seconds = self.incumbent.seconds * (1 - PROOF_TOLERANCE / 4)
        if seconds < self._cutoff:
            formulation = self.formulation
            most = formulation.units.down(seconds)
            formulation.model.add(formulation.objective <= most)
            self._cutoff = seconds
