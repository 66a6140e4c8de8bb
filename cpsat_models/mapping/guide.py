"""The guide: a bound and solutions of the model's linear part, before CP-SAT begins."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from hybridalloc.arrays import Floats
from hybridalloc.cpsat_models.mapping.examiner import Examiner
from hybridalloc.cpsat_models.mapping.hints import hints_from
from hybridalloc.cpsat_models.mapping.linear import LinearPart, is_true
from hybridalloc.cpsat_models.mapping.milp import Milp
from hybridalloc.cpsat_models.mapping.proof import Proof
from hybridalloc.solver import Run

LEAST_LITERALS = 500
"""A model with fewer literals for copies is small."""
MOST_SEARCHES = 10
"""So often a search begins again."""
SET_UP_S = 5e-5
"""Seconds that it may take to set up a search, for each literal."""


class Guide:
    """Solves the linear part of one model."""

    def __init__(self, examiner: Examiner, run: Run) -> None:
        self._examiner = examiner
        self._incumbent = examiner.incumbent
        self._run = run

    @property
    def _is_time(self) -> bool:
        """Whether there is time to set up anything."""
        return self._run.remaining_s > SET_UP_S * self._examiner.formulation.literals

    def prove(self, share: float) -> None:
        """Raise the bound, for a share of the time that is left."""
        if self._run.iterations is not None or not self._is_time:
            return  # how far it gets would depend on the machine
        deadline = self._run.until(share)
        part = LinearPart(self._examiner.formulation.model)
        proof = Proof(part, deadline)
        try:
            proof.run(self._incumbent.seconds * self._examiner.formulation.units.second)
        finally:
            self._examiner.raise_bound(proof.bound)

    def search(self, share: float) -> None:
        """Look for good maps, for a share of the time that is left.

        If the best solution has no offsets, the model learns why, and the search begins
        again. Small models CP-SAT alone solves sooner.
        """
        if self._examiner.formulation.literals < LEAST_LITERALS or not self._is_time:
            return
        deadline = self._run.until(share)
        for _ in range(MOST_SEARCHES):
            best = self._search_once(deadline)
            if best is None or self._incumbent.is_proven:
                return
            if not self._examiner.forbid(partial(is_true, best)):
                return

    def _search_once(self, deadline: float) -> Floats | None:
        """The best solution, if the search comes to its end."""
        formulation = self._examiner.formulation
        milp = Milp(LinearPart(formulation.model))
        if self._incumbent.best is not None:
            milp.start_from(hints_from(formulation.variables, self._incumbent.best))
        best = None
        with closing(milp.solve(deadline, nodes=self._run.iterations)) as solutions:
            for values in solutions:
                best = values
                self._examiner.take(partial(is_true, values))
                if self._incumbent.is_proven:
                    return None
        return best if milp.is_finished else None
