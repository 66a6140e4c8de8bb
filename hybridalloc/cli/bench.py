"""``bench``: the benchmark of record, of strategies on folders of inputs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from hybridalloc.benchmarking.machine import cores, most_processes
from hybridalloc.benchmarking.performing import Task
from hybridalloc.benchmarking.running import plan, run_benchmark
from hybridalloc.benchmarking.summaries import TOLERANCE
from hybridalloc.benchmarking.trials import Settings
from hybridalloc.benchmarking.workloads import Workload, find_workloads
from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    PROGRAM,
    Capacity,
    Json,
    TargetName,
    Workers,
    are_buffers,
    require_unset,
    size_or_none,
)
from hybridalloc.cli.output import progress, show, show_json
from hybridalloc.compose import split
from hybridalloc.errors import UsageError
from hybridalloc.io.target_file import get_target
from hybridalloc.problem import CostModel
from hybridalloc.report.benchmark import (
    Contents,
    map_folder,
    record_folder,
    write_report,
)
from hybridalloc.report.benchmark.overview import overview
from hybridalloc.report.words import plural
from hybridalloc.solving import DEFAULT_STRATEGY, DEFAULT_TIME_LIMIT_S
from hybridalloc.static.strategies import static_texts

Value = TypeVar("Value")


def bench(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="INPUT",
            help="As of `solve`, or folders that hold some: programs, or CSV files of "
            "buffers. PyTorch may unpickle models (.pt2): give folders that you trust. "
            "Without any, only the report is made anew.",
            show_default=False,
        ),
    ] = None,
    strategies: Annotated[
        str, typer.Option(metavar="A,B,C", help="As of `solve`; several.")
    ] = DEFAULT_STRATEGY,
    time_limits: Annotated[
        str, typer.Option(metavar="SEC,SEC", help="Seconds for each search.")
    ] = f"{DEFAULT_TIME_LIMIT_S:g}",
    cost_models: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="How time is judged. [default: roofline]",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="N,N", help="Each search once with each.")
    ] = "0",
    workers: Workers = 1,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Searches at a time. [default: as many as the cores allow]",
            show_default=False,
        ),
    ] = None,
    robust: Annotated[
        bool,
        typer.Option(
            "--robust",
            help="Start from XLA's own answer, and be slower than that under neither "
            "cost model.",
        ),
    ] = False,
    bound_time: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SEC",
            help="For a lower bound of each program, besides; 0 for none.",
        ),
    ] = 0.0,
    tolerance: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Of XLA's time; less apart is a tie."
        ),
    ] = TOLERANCE,
    target: TargetName = None,
    capacity: Capacity = None,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where records and report go.")
    ] = Path("runs/bench"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run anew what has been run.")
    ] = False,
    with_maps: Annotated[
        bool,
        typer.Option("--maps", help="Draw each map that is found, in OUT/maps."),
    ] = False,
    as_json: Json = False,
) -> int:
    """Run strategies on many inputs, and report.

    Each search runs in a process of its own, and leaves a record in OUT/records. The
    same command again does what is missing: after Ctrl-C, or with more strategies. The
    report, OUT/report.md and OUT/report.json, is of all records there.
    """
    found = find_workloads(folders or ())
    is_static = are_buffers(workload.path for workload in found)
    if is_static:
        require_unset(PROGRAM, target=target, robust=robust, maps=with_maps)
        require_unset(PROGRAM, cost_models=cost_models, bound_time=bound_time or None)
    settings = Settings(
        strategies=(static_texts if is_static else split)(strategies),
        time_limits_s=_list(time_limits, "--time-limits", _seconds),
        cost_models=(None,) if is_static else _cost_models(cost_models),
        seeds=_list(seeds, "--seeds", _seed),
        workers=workers,
        target=target,
        capacity_bytes=size_or_none(capacity),
        robust=robust,
        bound_time_s=_list(str(bound_time), "--bound-time", _seconds)[0],
    )
    maps = map_folder(out).absolute() if with_maps else None
    missing = _run(found, settings, processes, out, fresh, maps) if found else 0
    contents = _contents(out, tolerance, missing)
    write_report(out, contents)
    if contents.failures:
        count = plural(len(contents.failures), "failure", "failures")
        warnings.warn(f"{count}: see {out / 'report.md'}", stacklevel=2)
    if as_json:
        show_json(contents.as_json())
    else:
        show(*overview(contents), f"report written to {out / 'report.md'}")
    answered = contents.sections or contents.placements
    return Exit.ANSWER if answered else Exit.NO_ANSWER


def _run(
    workloads: Sequence[Workload],
    settings: Settings,
    processes: int | None,
    out: Path,
    fresh: bool,
    maps: Path | None,
) -> int:
    """Do what is missing; how many trials still are, as after Ctrl-C."""
    at_a_time = most_processes(settings.workers, processes, cores())
    if settings.target is not None:
        get_target(settings.target)  # refused, if so, before anything runs
    folder = record_folder(out)
    planned = plan(workloads, settings, folder, fresh=fresh)
    ended = 0
    with suppress(KeyboardInterrupt), progress(len(planned)) as step:

        def watch(running: list[Task], done: Task | None) -> None:
            nonlocal ended
            ended += done is not None
            step(_description(running), advance=int(done is not None))

        run_benchmark(planned, folder, at_a_time, watch, maps)
    if ended < len(planned) and not folder.read():
        raise KeyboardInterrupt
    return len(planned) - ended


def _description(running: list[Task]) -> str:
    return "; ".join(f"{x.trial.name}: {x.trial.strategy}" for x in running)


def _contents(out: Path, tolerance: float, missing: int) -> Contents:
    records = record_folder(out).read()
    if not records:
        raise UsageError(
            f"{out}: no records of a benchmark, nothing to report (expected what "
            f"`hybridalloc bench FOLDER --out {out}` makes)"
        )
    return Contents.of(records, tolerance=tolerance, missing=missing)


def _cost_models(text: str | None) -> tuple[CostModel, ...]:
    return _list(text or CostModel.ROOFLINE.value, "--cost-models", CostModel)


def _list(text: str, option: str, parse: Callable[[str], Value]) -> tuple[Value, ...]:
    """The values in a list of them, separated by commas, each once."""
    try:
        return tuple(dict.fromkeys(parse(part.strip()) for part in text.split(",")))
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: {error}") from error


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError(f"expected finite seconds >= 0, got {text}")
    return seconds


def _seed(text: str) -> int:
    seed = int(text)
    if seed < 0:
        raise ValueError(f"expected whole numbers >= 0, got {text}")
    return seed
