"""Bound workload folders, and set the best maps that are known beside the bounds.

Each program gets the time that its size asks for, and once more a fifth of it. The
known maps are those of a benchmark, if one is given, and the compiler's own answer from
the folder. A bound above any known time is a defect, and counted.
"""

from __future__ import annotations

import json
import math
import resource
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hybridalloc.benchmarking.running import best_times
from hybridalloc.bounds import lower_bound
from hybridalloc.bounds.bounding import ROUNDING
from hybridalloc.io.read import read_problem
from hybridalloc.report.benchmark import record_folder
from hybridalloc.report.records import geometric_mean, reference_times
from hybridalloc.report.tables import new_table

LIMITS_S = ((300, 10.0), (1000, 60.0), (math.inf, 180.0))
"""Seconds for programs of up to so many instructions."""
COARSE_SHARE = 0.2
HEADS = ("T", "known", "coarse", "XLA", "leaves", "s", "coarse s", "GiB")
LEGEND = (
    "T: instructions; known, XLA: the best known and XLA's own time / bound;\n"
    "coarse: best known / coarse bound; leaves of the search; s: seconds; GiB: at most"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One program."""

    input: str
    cost_model: str
    instructions: int
    bound_s: float
    coarse_bound_s: float
    xla_s: float | None
    known_s: float
    """The least time of any map that is known, the compiler's own included."""
    leaves: int
    """The parts of the search that are not divided."""
    runtime_s: float
    coarse_runtime_s: float
    gib: float
    """The most memory of the process."""


def run(folder: Path, cost_model: str, known_s: float) -> Row:
    """Bound one program, in a process of its own."""
    problem = read_problem(folder, cost_model=cost_model)
    references = reference_times(problem)
    count = len(problem.program)
    limit = next(limit for most, limit in LIMITS_S if count <= most)
    coarse = lower_bound(problem, time_limit=COARSE_SHARE * limit)
    bound = lower_bound(problem, time_limit=limit)
    return Row(
        input=folder.name,
        cost_model=cost_model,
        instructions=count,
        bound_s=bound.seconds,
        coarse_bound_s=coarse.seconds,
        xla_s=references.xla_s,
        known_s=min(known_s, references.least_valid_s),
        leaves=bound.certificate.leaves,
        runtime_s=bound.runtime,
        coarse_runtime_s=coarse.runtime,
        gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )


def known_times(benchmarks: list[Path], cost_model: str) -> dict[str, float]:
    """The least time of each program's maps, by the folder's name."""
    least: dict[str, float] = {}
    for folder in benchmarks:
        for case, time_s in best_times(record_folder(folder).read()).items():
            if case.cost_model == cost_model:
                least[case.name] = min(time_s, least.get(case.name, math.inf))
    return least


def cells(row: Row) -> list[str]:
    """A row of the table."""
    xla = "-" if row.xla_s is None else f"{row.xla_s / row.bound_s:.4f}"
    return [
        str(row.instructions),
        f"{row.known_s / row.bound_s:.4f}",
        f"{row.known_s / row.coarse_bound_s:.4f}",
        xla,
        str(row.leaves),
        f"{row.runtime_s:.1f}",
        f"{row.coarse_runtime_s:.1f}",
        f"{row.gib:.2f}",
    ]


def summary(rows: list[Row]) -> str:
    """Geometric means, and how many bounds some known map refutes."""
    known = geometric_mean(row.known_s / row.bound_s for row in rows)
    xla = geometric_mean(row.xla_s / row.bound_s for row in rows if row.xla_s)
    refuted = sum(row.known_s < row.bound_s * (1 - ROUNDING) for row in rows)
    return (
        f"{len(rows)} programs, {rows[0].cost_model}: geometric mean of best known / "
        f"bound {known or 0:.4f}, of XLA / bound {xla or 0:.4f}; {refuted} refuted"
    )


def main(
    folders: list[Path],
    known: Annotated[
        list[Path] | None, typer.Option(help="The folder of a benchmark.")
    ] = None,
    cost_model: Annotated[str, typer.Option()] = "roofline",
    workers: Annotated[int, typer.Option(help="Programs at a time.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where to keep all rows.")] = None,
) -> None:
    """Bound workload folders, and set the best known maps beside the bounds."""
    times = known_times(known or [], cost_model)
    rows: list[Row] = []
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        jobs = [
            pool.submit(run, folder, cost_model, times.get(folder.name, math.inf))
            for folder in folders
        ]
        for job in as_completed(jobs):
            rows.append(job.result())
            rows.sort(key=lambda row: row.instructions)
            if out is not None:
                found = [asdict(row) for row in rows]
                out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    table = new_table(["program"], HEADS)
    for row in rows:
        table.add_row(row.input, *cells(row))
    console = Console()
    console.print(table)
    console.print(LEGEND)
    console.print(summary(rows))


if __name__ == "__main__":
    typer.run(main)
