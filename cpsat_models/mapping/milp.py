"""Solutions of the linear part, by HiGHS's mixed-integer search.

It finds good ones much sooner than CP-SAT, whose numbers are whole: times have so many
digits that its linear relaxation suffers. HiGHS computes in floating point, and with
rows that are slack by large amounts it errs at times, so its bounds prove nothing here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing

import highspy
import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.beside import beside
from hybridalloc.bounds.linear_program import LinearProgram
from hybridalloc.bounds.linear_solver import highs_model
from hybridalloc.cpsat_models.mapping.linear import LinearPart, column_of
from hybridalloc.cpsat_models.mapping.variables import Lit

GAP = 1e-6
"""The search ends when no solution can be better by a larger part."""


class Milp:
    """One search."""

    def __init__(self, part: LinearPart) -> None:
        """Hand the program to HiGHS."""
        self._scale = part.scale
        self._news: list[Floats] = []
        self.is_finished = False
        """Whether the search has come to its end, as HiGHS sees it."""
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.setOptionValue("mip_rel_gap", GAP)
        self._highs.passModel(_model(part.program(complete=True)))

    def start_from(self, hints: Iterable[tuple[Lit, bool]]) -> None:
        """Begin with literals that are known to go together."""
        known: dict[int, float] = {}
        for literal, value in hints:
            column, negated = column_of(literal)
            known[column] = float(value != negated)
        columns = np.array(list(known), np.int32)
        self._highs.setSolution(len(known), columns, np.array(list(known.values())))

    def solve(
        self, deadline: float, *, nodes: int | None = None
    ) -> Generator[Floats, None, None]:
        """Search as far as the time allows.

        Args:
            deadline: In seconds of ``time.monotonic()``.
            nodes: The most nodes of the search; ``None``: no limit.

        Yields:
            (variables,): each better solution, in the model's units.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        highs = self._highs
        if nodes is not None:
            highs.setOptionValue("mip_max_nodes", nodes)
        if deadline < math.inf:
            left = max(0.0, deadline - time.monotonic())
            highs.setOptionValue("time_limit", highs.getRunTime() + left)
        highs.HandleUserInterrupt = True
        highs.cbMipImprovingSolution.subscribe(self._take)
        with closing(beside(highs.run, highs.cancelSolve)) as waiting:
            for _ in waiting:
                yield from self._found()
        self.is_finished = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        if self.is_finished:
            self._news.append(np.array(highs.getSolution().col_value))
        yield from self._found()

    def _take(self, event: highspy.HighsCallbackEvent) -> None:
        self._news.append(np.array(event.data_out.mip_solution))

    def _found(self) -> Iterator[Floats]:
        while self._news:
            yield self._news.pop(0) * self._scale


def _model(program: LinearProgram) -> highspy.HighsLp:
    """A program in HiGHS's terms."""
    model = highs_model(program)
    kinds = [highspy.HighsVarType.kContinuous] * program.cost.size
    for column in program.binary.tolist():
        kinds[column] = highspy.HighsVarType.kInteger
    model.integrality_ = kinds
    return model
