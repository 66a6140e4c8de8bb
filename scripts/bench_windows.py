"""Measure which windows are worth solving: the same number of them, drawn differently.

All begin with the same map of each program. Times are simulated.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Annotated

import typer
from rich.console import Console

from hybridalloc import solve
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.tables import new_table, simulated

STRATEGIES = "windows;windows(propose=relaxation);agent-windows"
"""What is compared by default."""


def gain(
    problem: Problem, start: MemoryMap, strategy: str, windows: int, seed: int
) -> float:
    """The part of the start's time that these windows save."""
    result = solve(problem, strategy, iterations=windows, seed=seed, warm_start=start)
    if not result.time:
        return 0.0
    return 1 - result.time / result.history[0].time


def main(
    workloads: list[Path],
    strategies: Annotated[
        str, typer.Option(help="What is compared, with semicolons between.")
    ] = STRATEGIES,
    start: Annotated[
        str, typer.Option(help="The strategy that makes the maps to begin with.")
    ] = "best(msa,greedy)>search",
    moves: Annotated[int, typer.Option(min=0, help="Its iterations.")] = 150_000,
    windows: Annotated[int, typer.Option(min=1, help="Solved in each run.")] = 60,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each strategy.")] = 3,
) -> None:
    """Print by how much windows make a map faster: means over seeds."""
    problems = [read_problem(x) for x in workloads]
    names = strategies.split(";")
    table = new_table(["program"], [f"{x}, %" for x in names])
    rows = []
    for path, problem in zip(workloads, problems, strict=True):
        begin = solve(problem, start, iterations=moves).map
        if begin is None:
            continue
        rows.append(
            [
                mean(gain(problem, begin, x, windows, seed) for seed in range(seeds))
                for x in names
            ]
        )
        table.add_row(path.name, *(f"{100 * x:.4f}" for x in rows[-1]))
    if rows:
        means = (mean(column) for column in zip(*rows, strict=True))
        table.add_row("mean", *(f"{100 * x:.4f}" for x in means))
    console = Console(width=120)
    console.print(simulated(problems[0].cost_model, problems[0].target.name))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
