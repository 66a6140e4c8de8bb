"""``lower_bound()``: a time that no valid map beats."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.bounds.bound import Bound, Prices
from hybridalloc.bounds.branching import BranchAndBound
from hybridalloc.bounds.covers import Covers
from hybridalloc.bounds.envelopes import Envelopes
from hybridalloc.bounds.linear_program import Row
from hybridalloc.bounds.linear_solver import Solution
from hybridalloc.bounds.relaxation import Relaxation, relax, relax_to_instructions
from hybridalloc.cost_model import compile_costs
from hybridalloc.errors import UsageError
from hybridalloc.problem import Problem

_LEAST_UNIT_S = 1e-250
"""Numbers of units per second are finite, and so are their products."""
SEARCH_SHARE = 0.97
"""When the search ends, as a share of the time; what it is at then takes a moment."""
SET_UP_SHARE = 0.4
"""The share of the time that setting up may take; without it there are no rows."""
ROUNDING = Fraction(1, 10**9)
"""The share by which a bound is lowered, so that no rounding in the sums of a map's
time, or of the relaxation's coefficients, puts that below it."""


def lower_bound(
    problem: Problem, *, time_limit: float = 60.0, cutoff: float = math.inf
) -> Bound:
    """Prove a time that no valid map of a problem beats.

    A mixed-integer relaxation, cover and envelope cuts, and branch and bound, all
    checked in exact arithmetic (docs/bounds.md). Ctrl-C ends the search: what is proven
    until then is returned.

    Args:
        problem: The program, the target and the cost model.
        time_limit: Seconds; the bound is the better the more there are.
        cutoff: Seconds; a bound this high is good enough, such as the time of a map.

    Raises:
        UsageError: The time limit is no number of seconds, or the problem's times
            are not finite.
    """
    if not time_limit >= 0:
        raise UsageError(f"time limit {time_limit} is not >= 0 seconds")
    started = time.monotonic()
    deadline = started + SEARCH_SHARE * time_limit
    unit_s = time_unit_s(problem)
    try:
        relaxation = relax(problem, unit_s, started + SET_UP_SHARE * time_limit)
        search = branch_and_bound(relaxation, deadline)
    except (TimeoutError, KeyboardInterrupt):
        relaxation = relax_to_instructions(problem, unit_s)
        search = branch_and_bound(relaxation, deadline)
    with suppress(KeyboardInterrupt):
        search.run(cutoff / relaxation.unit_s)
    return Bound(
        seconds=in_seconds(search.bound, relaxation.unit_s),
        prices=_prices(relaxation, search.first),
        served={
            access: float(search.values[column])
            for access, column in relaxation.served.items()
            if search.values[column] > 0
        },
        certificate=search.certificate(),
        unit_s=relaxation.unit_s,
        runtime=time.monotonic() - started,
    )


def branch_and_bound(relaxation: Relaxation, deadline: float) -> BranchAndBound:
    """The search of a relaxation, with its cuts.

    Args:
        relaxation: What is searched.
        deadline: In seconds of ``time.monotonic()``.
    """
    covers, envelopes = Covers(relaxation), Envelopes(relaxation)

    def separate(values: Floats) -> Iterator[Row]:
        yield from covers.separate(values)
        yield from envelopes.separate(values, deadline)

    return BranchAndBound(relaxation.program, separate, deadline)


def relaxed_serving(problem: Problem, deadline: float) -> dict[tuple[int, int], float]:
    """How far each access is served from fast memory in the relaxation with its cuts.

    Args:
        problem: The program, the target and the cost model.
        deadline: In seconds of ``time.monotonic()``.

    Returns:
        In [0, 1], about, by instruction and buffer; accesses that are not here are
        served from slow memory. Empty if there was no time for a solution.
    """
    try:
        relaxation = relax(problem, time_unit_s(problem), deadline)
        search = branch_and_bound(relaxation, deadline)
    except TimeoutError:
        return {}
    search.solve_root(math.inf)
    if search.first is None or not search.first.optimal:
        return {}
    values = search.values
    return {access: float(values[x]) for access, x in relaxation.served.items()}


def time_unit_s(problem: Problem) -> float:
    """The mean time of an instruction with everything in slow memory."""
    costs = compile_costs(problem)
    slow_s = np.maximum(np.maximum(costs.compute_s, costs.all_slow_s), costs.empty_s)
    with np.errstate(over="ignore"):
        total = float((costs.runs * slow_s).sum())
    if not math.isfinite(total):
        raise UsageError(
            f"program {problem.program.name}: its time is not finite under target "
            f"{problem.target.name}: {total} s with everything in slow memory"
        )
    mean = total / len(problem.program)
    return mean if mean > _LEAST_UNIT_S else 1.0


def in_seconds(bound: Fraction | None, unit_s: float) -> float:
    """A proven bound as a time that no rounding puts above what is proven.

    Args:
        bound: Of a relaxation, in its units; ``None`` if it has no solution.
        unit_s: Seconds of one unit.
    """
    if bound is None:
        return math.inf
    return max(0.0, float(bound * Fraction(unit_s) * (1 - ROUNDING)))


def _prices(relaxation: Relaxation, first: Solution | None) -> Prices | None:
    """The dual values of the relaxation before all cuts; ``None`` if not solved."""
    if first is None or not first.optimal or not relaxation.levels.size:
        return None
    fast = relaxation.problem.target.fast
    levels = -first.reduced_costs[relaxation.levels] * relaxation.unit_s
    work = relaxation.work
    # A stall costs what it takes; idle time, what its row would pay for more of it.
    pays = np.where(work.row < 0, 1.0, -first.duals[work.row])
    spent = first.values[work.column] * work.amount * pays * work.seconds_per_byte
    return Prices(
        capacity=np.maximum(levels, 0.0) / fast.alignment,
        copy_bandwidth=float(spent.sum()) * relaxation.unit_s,
    )
