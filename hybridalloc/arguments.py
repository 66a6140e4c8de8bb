"""The arguments of ``solve()``: refused where they are nothing that it takes."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import cast

from hybridalloc.errors import UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import Robust
from hybridalloc.pins import pinned
from hybridalloc.problem import CostModel, Problem
from hybridalloc.static.problem import StaticProblem
from hybridalloc.target import Target


def require(problem: object, warm_start: object, **numbers: object) -> None:
    """Refuse what is nothing of the kind that ``solve`` takes.

    Raises:
        UsageError: An argument is of another type, or the time limit is negative.
    """
    if not isinstance(problem, Problem | StaticProblem | Path | str):
        raise UsageError(
            f"problem {problem!r}: expected a Problem, a StaticProblem or a path"
        )
    if not isinstance(warm_start, MemoryMap | None):
        raise UsageError(
            f"warm start {warm_start!r}: expected a MemoryMap, such as "
            f"problem.compiler_map"
        )
    for name, value in numbers.items():
        kind = Real if name == "time_limit" else Integral
        if isinstance(value, bool) or not isinstance(value, kind):
            what = "number" if kind is Real else "whole number"
            raise UsageError(f"{name} {value!r}: expected a {what}")
        if name == "time_limit" and not cast(float, value) >= 0:
            raise UsageError(f"time limit {value} is not >= 0 seconds")


def require_takes(solver: object, name: str, kind: type[object]) -> None:
    """Refuse a solver whose annotations say that it takes the other kind of problem.

    Args:
        solver: Has a method ``solve``.
        name: What to call it.
        kind: ``Problem`` or ``StaticProblem``.

    Raises:
        UsageError: It is for programs, or for static allocation, and should not be.
    """
    words = {Problem: "programs", StaticProblem: "static allocation"}
    method: object = getattr(solver, "solve", None)
    said = getattr(method, "__annotations__", {}).get("problem")
    for other in words.keys() - {kind}:
        if said in (other, other.__name__):
            raise UsageError(
                f"strategy {name!r} is for {words[other]}; expected one for "
                f"{words[kind]}"
            )


def read(
    problem: Problem | StaticProblem | Path | str,
    target: Target | str | None,
    cost_model: CostModel | str | None,
    capacity: int | None,
    max_slices: int | None,
) -> Problem | StaticProblem:
    """The problem itself, or the one at a path.

    Raises:
        UsageError: What goes with a path is given with a problem, or is not known.
        InputError: The path cannot be read as a problem.
    """
    if isinstance(problem, Problem | StaticProblem):
        if any(x is not None for x in (target, cost_model, capacity, max_slices)):
            raise UsageError(
                "target, cost_model, capacity and max_slices go with a path; a problem "
                "carries its own"
            )
        return problem
    from hybridalloc.io.minimalloc import read_buffers
    from hybridalloc.io.read import holds_buffers, read_problem

    if holds_buffers(Path(problem)):
        require_none(target=target, cost_model=cost_model, max_slices=max_slices)
        return read_buffers(problem, capacity)
    return read_problem(
        problem,
        target=target,
        cost_model=cost_model,
        capacity=capacity,
        max_slices=max_slices,
    )


def require_none(**options: object) -> None:
    """Refuse options that say nothing of a static problem.

    Raises:
        UsageError: One is given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"{name}: says nothing of a static problem")


def restricted(
    problem: Problem, warm_start: MemoryMap | None
) -> tuple[Problem, MemoryMap | None]:
    """The problem for expressible maps alone, and what counts of a warm start.

    Raises:
        UsageError: The program has pinned buffers, or the warm start is not valid.
    """
    from hybridalloc.checker import check
    from hybridalloc.expressible import project

    if found := pinned(problem.program):
        name = problem.program.buffers[found[0]].name
        raise UsageError(
            f"expressible: buffer {name} must be in fast memory, which XLA cannot be "
            f"told (expected a program without pinned buffers)"
        )
    only = problem.restricted()
    if warm_start is None:
        return only, None
    if violations := check(problem, warm_start):
        message = violations[0].message
        raise UsageError(f"the warm start is not a valid map: {message}")
    return only, project(only, warm_start)


def robust_objective(problem: Problem, warm_start: MemoryMap | None) -> Robust:
    """The objective of being worse than the warm start under neither cost model.

    Raises:
        UsageError: There is no warm start, or the program carries no estimates.
    """
    if warm_start is None:
        raise UsageError(
            "robust: expected a warm start, the map than which none may be slower "
            "under either cost model"
        )
    return Robust.against(problem, warm_start)
