"""Linear programs, solved by HiGHS's dual simplex, warm from one to the next."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.beside import beside
from hybridalloc.bounds.linear_program import LinearProgram, Row

_LEAST_S = 0.01
_INFEASIBLE = highspy.HighsModelStatus.kInfeasible
_OPTIMAL = highspy.HighsModelStatus.kOptimal
_OUT_OF_TIME = highspy.HighsModelStatus.kTimeLimit


@dataclass(frozen=True, slots=True)
class Solution:
    """What is known when the solver stops; nothing in it is to be trusted as exact."""

    optimal: bool
    infeasible: bool
    values: Floats
    """(columns,)"""
    duals: Floats
    """(rows,): of an infeasible program a ray, of one not solved perhaps nothing."""
    reduced_costs: Floats
    """(columns,)"""


class LinearSolver:
    """One program, to which rows are added and whose columns are fixed and freed."""

    def __init__(self, program: LinearProgram) -> None:
        """Pass the program to HiGHS."""
        self._program = program
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.HandleUserInterrupt = True
        self._highs.passModel(highs_model(program))
        self._fixed: set[int] = set()
        self._presolves = True

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows."""
        for row in rows:
            self._highs.addRow(
                row.low,
                row.high,
                len(row.columns),
                row.columns.astype(np.int32),
                row.values,
            )

    def fix(self, fixed: Mapping[int, float]) -> None:
        """Fix these columns, and free all that were fixed before."""
        low, high = self._program.low, self._program.high
        for column in self._fixed - fixed.keys():
            self._highs.changeColBounds(column, low[column], high[column])
        for column, value in fixed.items():
            self._highs.changeColBounds(column, value, value)
        self._fixed = set(fixed)

    def solve(self, deadline: float) -> Solution:
        """Solve as far as the time allows.

        The first time with presolve; without it if numbers are too awkward for that,
        or if there is no solution, of which presolve leaves no proof.

        Args:
            deadline: In seconds of ``time.monotonic()``.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        status = self._run(deadline)
        if self._presolves:
            self._presolves = False  # it would discard the basis
            self._highs.setOptionValue("presolve", "off")
            if status not in (_OPTIMAL, _OUT_OF_TIME):
                self._highs.clearSolver()
                status = self._run(deadline)
        return self._solution(status)

    def _run(self, deadline: float) -> Any:
        remaining_s = max(_LEAST_S, deadline - time.monotonic())
        if math.isfinite(remaining_s):
            limit = self._highs.getRunTime() + remaining_s
            self._highs.setOptionValue("time_limit", limit)
        with closing(beside(self._highs.run, self._highs.cancelSolve)) as waiting:
            for _ in waiting:
                pass
        return self._highs.getModelStatus()

    def _solution(self, status: Any) -> Solution:
        found = self._highs.getSolution()
        duals = np.array(found.row_dual)
        if status == _INFEASIBLE:
            _, has_ray, ray = self._highs.getDualRay()
            duals = np.array(ray) if has_ray else np.zeros_like(duals)
        return Solution(
            optimal=status == _OPTIMAL,
            infeasible=status == _INFEASIBLE,
            values=np.array(found.col_value),
            duals=duals,
            reduced_costs=np.array(found.col_dual),
        )


def highs_model(program: LinearProgram) -> highspy.HighsLp:
    """A program in HiGHS's terms, all of its columns continuous."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.cost.size, program.row_low.size
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = program.low, program.high
    model.row_lower_, model.row_upper_ = program.row_low, program.row_high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = program.matrix.indptr
    model.a_matrix_.index_ = program.matrix.indices
    model.a_matrix_.value_ = program.matrix.data
    return model
