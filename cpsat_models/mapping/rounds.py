"""Rounds: solve the model, compare its answer with the truth, add what was missing."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hybridalloc.cpsat_models.mapping.engine import Ending, Engine
from hybridalloc.cpsat_models.mapping.examiner import Examiner, Verdict
from hybridalloc.cpsat_models.mapping.extraction import Values
from hybridalloc.cpsat_models.mapping.linear import column_of
from hybridalloc.cpsat_models.mapping.variables import Lit
from hybridalloc.solver import Run

ITERATION_S = 0.1
"""Seconds of work, as CP-SAT counts it deterministically, in each iteration."""


class Rounds:
    """Has CP-SAT solve one model again and again."""

    def __init__(self, examiner: Examiner, engine: Engine, run: Run) -> None:
        self._examiner = examiner
        self._model = examiner.formulation.model
        self._engine = engine
        self._run = run

    def hint(self, hints: Iterable[tuple[Lit, bool]]) -> None:
        """Say where to begin."""
        known: dict[int, bool] = {}
        for literal, value in hints:
            column, negated = column_of(literal)
            known[column] = value != negated
        self._model.clear_hints()
        for column, value in known.items():
            self._model.add_hint(
                self._model.get_int_var_from_proto_index(column), value
            )

    def all(self) -> Verdict:
        """Rounds until there is a verdict."""
        verdict = Verdict.LEARNED
        while verdict is Verdict.LEARNED:
            if self._run.expired or self._deterministic_left <= 0:
                return Verdict.DONE
            verdict = self._round()
        return verdict

    def _round(self) -> Verdict:
        self._examiner.cut_off()
        ending = self._engine.solve(
            self._model,
            self._take,
            is_enough=self._is_enough,
            deterministic_limit=self._deterministic_left,
        )
        if ending is Ending.INFEASIBLE:
            self._examiner.raise_bound(math.inf)
            return Verdict.DONE
        solver = self._engine.solver
        self._examiner.raise_bound(solver.best_objective_bound)
        if ending is Ending.STOPPED:
            return Verdict.DONE
        return self._examiner.examine(solver.boolean_value, solver.value)

    @property
    def _deterministic_left(self) -> float:
        if self._run.iterations is None:
            return math.inf
        return self._run.iterations * ITERATION_S - self._engine.deterministic_s

    def _is_enough(self, bound: float) -> bool:
        self._examiner.raise_bound(bound)
        return self._examiner.incumbent.is_proven

    def _take(self, values: Values) -> None:
        self._examiner.take(values)
        if self._examiner.incumbent.is_proven:
            self._engine.stop()
