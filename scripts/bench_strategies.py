"""Run strategies on workload folders stripped of the compiler's answer.

Each map is judged by the checker and by the execution oracle, and set beside the
compiler's own answer. Prints a row a strategy, and one for the best of all; ``--out``
keeps every answer as ``compare --json`` does, for ``benchmark_table.py``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hybridalloc import solve
from hybridalloc.checker import check
from hybridalloc.compose.text import split
from hybridalloc.io.read import read_problem
from hybridalloc.oracle import execute
from hybridalloc.report.records import Record, geometric_mean, record, reference_times
from hybridalloc.report.tables import new_table

ALIKE = 1e-9
"""Times that differ by less than this share of themselves are equal."""
COLUMNS = (
    *("XLA / it", "worst", "as good as XLA", "longest, s"),
    *("violations", "mismatches"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one strategy did on one program."""

    record: Record
    violations: int
    mismatches: int

    @property
    def as_good(self) -> bool:
        """Whether it takes no longer than the compiler's own answer."""
        return _beats(self.record.speedup_vs_xla)


def _beats(speedup: float | None) -> bool:
    return speedup is not None and speedup >= 1 - ALIKE


def run(folder: Path, strategy: str, cost_model: str, time_limit: float) -> Answer:
    """Solve one program without its compiler's answer, and judge the map."""
    problem = read_problem(folder, cost_model=cost_model)
    stripped = replace(problem, compiler_map=None)
    result = solve(stripped, strategy, time_limit=time_limit)
    made = record(str(folder), problem, result, reference_times(problem))
    if result.map is None:
        return Answer(made, 0, 0)
    violations = check(stripped, result.map)
    return Answer(made, len(violations), len(execute(stripped, result.map)))


def rows(answers: list[Answer]) -> list[list[str]]:
    """For each strategy and for the best of all: how it compares with the compiler."""
    groups: dict[str, list[Answer]] = defaultdict(list)
    best: dict[str, Answer] = {}
    for answer in answers:
        groups[answer.record.strategy].append(answer)
        so_far = best.get(answer.record.input)
        if so_far is None or _speedup(answer) > _speedup(so_far):
            best[answer.record.input] = answer
    groups["best of all"] = list(best.values())
    return [[name, *_figures(group)] for name, group in groups.items()]


def _speedup(answer: Answer) -> float:
    return answer.record.speedup_vs_slow or 0.0


def _figures(group: list[Answer]) -> list[str]:
    speedups = [x.record.speedup_vs_xla for x in group]
    known = [speedup for speedup in speedups if speedup is not None]
    mean = geometric_mean(known)
    return [
        "-" if mean is None else f"{mean:.3f}",
        f"{min(known, default=0):.3f}",
        f"{sum(x.as_good for x in group)} of {len(known)}",
        f"{max(x.record.runtime_s for x in group):.1f}",
        str(sum(x.violations for x in group)),
        str(sum(x.mismatches for x in group)),
    ]


def main(
    folders: list[Path],
    strategies: Annotated[str, typer.Option(help="Separated by commas.")] = (
        "msa,greedy,belady,knapsack,annealing,evolutionary"
    ),
    cost_model: Annotated[str, typer.Option()] = "roofline",
    time_limit: Annotated[float, typer.Option(help="Seconds for each.")] = 30.0,
    workers: Annotated[int, typer.Option(help="Programs at a time.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where to keep all answers.")] = None,
) -> None:
    """Run strategies on workload folders, stripped of the compiler's answer."""
    answers: list[Answer] = []
    console = Console()
    with ProcessPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(run, folder, strategy, cost_model, time_limit)
            for folder, strategy in product(folders, split(strategies))
        ]
        for job in as_completed(jobs):
            answers.append(job.result())
            answers.sort(key=lambda x: (x.record.input, x.record.strategy))
            if out is not None:
                found = [asdict(answer.record) for answer in answers]
                out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    table = new_table(["strategy"], COLUMNS)
    for row in rows(answers):
        table.add_row(*row)
    console.print(
        f"{len(folders)} programs, {cost_model}, {time_limit:g} s each", table
    )


if __name__ == "__main__":
    typer.run(main)
