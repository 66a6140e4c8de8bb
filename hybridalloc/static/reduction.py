"""Few buffers that do not fit together, out of many."""

from __future__ import annotations

from dataclasses import replace

from hybridalloc.solver import Run
from hybridalloc.static.load import lower_bound, peak_of
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.proofs import StaticInfeasibility
from hybridalloc.static.solver import StaticSolver
from hybridalloc.static.units import unit_of


def reduced(
    problem: StaticProblem, solver: StaticSolver, run: Run
) -> StaticInfeasibility:
    """Why no offsets fit, as exhaustive search has proven.

    Leaves buffers out, as long as there is time and what is left still does not fit:
    half of them at a time at first, then fewer, at the end one.
    """
    kept = list(problem.buffers)
    count = len(kept) // 2
    is_irreducible = False
    while count and not run.expired:
        before = len(kept)
        kept = _without(kept, count, problem, solver, run)
        if len(kept) == before and count == 1:
            is_irreducible = not run.expired
            break
        count = count // 2 if len(kept) == before else min(count, len(kept) // 2) or 1
    peak = peak_of(kept)
    bound = max(lower_bound(problem), (problem.capacity or 0) + unit_of(problem))
    largest = sorted(kept, key=lambda x: (-x.size, x.name))
    few = (
        "these do not fit, and do without any one"
        if is_irreducible
        else "they do not fit"
    )
    return StaticInfeasibility(
        instruction=peak.instant,
        excess_bytes=bound - (problem.capacity or 0),
        culprits=tuple(x.name for x in largest),
        reason=f"search of all placements: {few}",
    )


def _without(
    kept: list[StaticBuffer],
    count: int,
    problem: StaticProblem,
    solver: StaticSolver,
    run: Run,
) -> list[StaticBuffer]:
    """What is left after leaving out so many in turn where the rest does not fit."""
    start = 0
    while start < len(kept) and not run.expired:
        rest = kept[:start] + kept[start + count :]
        found = solver.solve(replace(problem, buffers=tuple(rest)), run)
        if found.is_impossible:
            kept = rest
        else:
            start += count
    return kept
