"""Few buffers that do not fit together, out of many."""

from __future__ import annotations

from dataclasses import replace

from hybridalloc.interruption import until_interrupt
from hybridalloc.solver import Run
from hybridalloc.static.load import peak_of
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.proofs import StaticInfeasibility
from hybridalloc.static.solver import StaticSolver


def reduced(
    problem: StaticProblem, solver: StaticSolver, run: Run, excess_bytes: int
) -> StaticInfeasibility:
    """Why no offsets fit, as exhaustive search has proven.

    Leaves buffers out, as long as there is time and what is left still does not fit:
    half of them at a time at first, then fewer, at the end one. Ctrl-C ends that.

    Args:
        problem: What does not fit.
        solver: What has proven it.
        run: Limits.
        excess_bytes: What more of memory it would take, at least.
    """
    kept, few = list(problem.buffers), "they do not fit"
    count = len(kept) // 2
    with until_interrupt():
        while count and not run.expired:
            before = len(kept)
            kept = _without(kept, count, problem, solver, run)
            if len(kept) < before:
                count = min(count, len(kept) // 2) or 1
            elif count > 1:
                count //= 2
            elif not run.expired:
                few = "these do not fit, and do without any one"
                break
    largest = sorted(kept, key=lambda x: (-x.size, x.name))
    return StaticInfeasibility(
        instruction=peak_of(kept).instant,
        excess_bytes=excess_bytes,
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
