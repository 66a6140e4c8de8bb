"""Compare the exact models with brute force on small random problems.

Prints what the optima are like, how far below them the bounds are, and the seeds of
problems on which a bound exceeds the optimum or a model misses it.
"""

from __future__ import annotations

import runpy
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from hybridalloc import Problem, Result, Status, solve
from hybridalloc.baselines.brute_force import BruteForce, BruteForceConfig
from hybridalloc.memory_map import Origin

TESTS = Path(__file__).parents[1] / "tests"
small_problem: Callable[[int], Problem] = runpy.run_path(
    str(TESTS / "small_problems.py")
)["small_problem"]
"""The problem of a seed, as the tests have it."""
KINDS = ("bound", "cpsat")
BOUND_ROUNDING = 1e-9
"""By how much of the optimum a bound may exceed it."""
CLOSE = 1e-6
"""By how much of the optimum a model's answer may differ from it."""
QUANTILES = (0, 0.5, 0.9, 0.95, 1)


@dataclass(frozen=True, slots=True)
class Task:
    """One problem, and what to do with it."""

    seed: int
    kinds: tuple[str, ...]
    time_limit: float
    """Seconds, of each model by itself."""
    any_input: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one problem."""

    seed: int
    status: Status
    optimum_s: float | None
    features: frozenset[str]
    """Of the problem and its optimum."""
    runtime_s: float
    """Of brute force."""
    bound_s: float | None = None
    cpsat_s: float | None = None
    cpsat_status: Status | None = None
    seconds: tuple[tuple[str, float], ...] = ()
    """Of each model, by its name."""


def examine(task: Task) -> Row:
    """Solve one problem in every way."""
    problem = small_problem(task.seed)
    solver = BruteForce(BruteForceConfig(any_input=task.any_input))
    result = solve(problem, solver, time_limit=task.time_limit)
    bound_s, cpsat, seconds = None, None, []
    if "bound" in task.kinds:
        begun = time.perf_counter()
        bound_s = bound_of(problem, task.time_limit)
        seconds.append(("bound", time.perf_counter() - begun))
    if "cpsat" in task.kinds:
        cpsat = solve(problem, "cpsat", time_limit=task.time_limit)
        seconds.append(("cpsat", cpsat.runtime))
    return Row(
        seed=task.seed,
        status=result.status,
        optimum_s=result.time,
        features=frozenset(features(problem, result)),
        runtime_s=result.runtime,
        bound_s=bound_s,
        cpsat_s=cpsat.time if cpsat else None,
        cpsat_status=cpsat.status if cpsat else None,
        seconds=tuple(seconds),
    )


def bound_of(problem: Problem, time_limit: float) -> float:
    """The lower bound in seconds; infinite if there is no map."""
    from hybridalloc.bounds import lower_bound

    return float(lower_bound(problem, time_limit=time_limit).seconds)


def features(problem: Problem, result: Result) -> Iterable[str]:
    """What a problem has, and its best map."""
    if problem.program.loops:
        yield "loops"
    if result.map is None or result.metrics is None:
        return
    allocations = result.map.allocations
    if result.metrics.stall_s > 0:
        yield "stalls"
    if any(x.eviction for x in allocations):
        yield "evictions"
    if any(x.origin is Origin.PREFETCHED for x in allocations):
        yield "prefetches"
    if any(x.origin is Origin.CROSS_PROGRAM for x in allocations):
        yield "cross-program"


def report(console: Console, rows: list[Row], kinds: tuple[str, ...]) -> bool:
    """Print what came out: whether everything agrees."""
    solved = [row for row in rows if row.status is Status.OPTIMAL]
    infeasible = [row for row in rows if row.status is Status.INFEASIBLE]
    late = [row.seed for row in rows if row not in solved + infeasible]
    console.print(
        f"{len(rows)} problems: {len(solved)} with an optimum, {len(infeasible)} "
        f"infeasible, {len(late)} not finished {late or ''}"
    )
    for feature in ("loops", "stalls", "prefetches", "evictions", "cross-program"):
        share = np.mean([feature in row.features for row in solved or rows])
        console.print(f"{feature}: {share:.1%} of the optima")
    console.print(f"brute force: {_spread([row.runtime_s for row in rows])} s")
    for kind in kinds:
        seconds = [dict(row.seconds)[kind] for row in rows]
        console.print(f"{kind}: {_spread(seconds)} s")
    failed = [
        *(_judge_bounds(console, solved) if "bound" in kinds else ()),
        *(_judge_cpsat(console, solved, infeasible) if "cpsat" in kinds else ()),
    ]
    return not failed


def _judge_bounds(console: Console, solved: list[Row]) -> list[int]:
    """The seeds whose bound exceeds the optimum."""
    ratios = np.array(
        [
            row.optimum_s / row.bound_s
            for row in solved
            if row.bound_s and row.optimum_s is not None
        ]
    )
    if ratios.size:
        tight = np.mean(ratios <= 1 + CLOSE)
        console.print(
            f"optimum / bound: {_spread(ratios)}, {tight:.1%} equal within {CLOSE}"
        )
    failed = [
        row.seed
        for row in solved
        if row.bound_s is not None
        and row.optimum_s is not None
        and row.bound_s > row.optimum_s * (1 + BOUND_ROUNDING)
    ]
    console.print(f"bounds above the optimum: {len(failed)} {failed or ''}")
    return failed


def _judge_cpsat(
    console: Console, solved: list[Row], infeasible: list[Row]
) -> list[int]:
    """The seeds on which the model's answer is another."""
    proven = sum(row.cpsat_status is Status.OPTIMAL for row in solved)
    differing = [
        row.seed
        for row in solved
        if row.cpsat_s is None
        or row.optimum_s is None
        or abs(row.cpsat_s - row.optimum_s) > CLOSE * row.optimum_s
    ]
    wrong = [row.seed for row in infeasible if row.cpsat_s is not None]
    console.print(f"cpsat: {proven} of {len(solved)} optimal")
    console.print(f"cpsat differs: {len(differing)} {differing or ''}")
    console.print(f"cpsat solves what is infeasible: {len(wrong)} {wrong or ''}")
    return differing + wrong


def _spread(values: Iterable[float]) -> str:
    quantiles = np.quantile(list(values), QUANTILES)
    names = ("least", "median", "90 %", "95 %", "most")
    pairs = zip(names, quantiles.tolist(), strict=True)
    return ", ".join(f"{name} {value:.4f}" for name, value in pairs)


def main(
    count: Annotated[int, typer.Option(help="How many problems.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the first one.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    what: Annotated[str, typer.Option(help="Of bound, cpsat; or nothing.")] = "",
    time_limit: Annotated[float, typer.Option(help="Seconds for each.")] = 60.0,
    any_input: Annotated[
        bool, typer.Option(help="Fetch any unchanged input beforehand.")
    ] = False,
) -> None:
    """Compare the exact models with brute force on small random problems."""
    kinds = tuple(filter(None, what.split(",")))
    if unknown := set(kinds) - set(KINDS):
        raise typer.BadParameter(f"{unknown}: expected some of {KINDS}")
    seeds = range(seed, seed + count)
    tasks = [Task(each, kinds, time_limit, any_input) for each in seeds]
    if workers == 1:
        rows = list(map(examine, tasks))
    else:
        with ProcessPoolExecutor(workers) as pool:
            rows = list(pool.map(examine, tasks, chunksize=8))
    if not report(Console(soft_wrap=True), rows, kinds):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
