"""``solve``: look for a map."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from hybridalloc.cli.options import (
    BUFFERS,
    PROGRAM,
    BoundTime,
    Capacity,
    Input,
    IsExpressible,
    IsRobust,
    Json,
    MaxSlices,
    MinimizeCapacity,
    Model,
    Reserve,
    Seed,
    TargetName,
    TimeLimit,
    WarmStart,
    Workers,
    given_map,
    read_given,
    require_start,
    require_unset,
)
from hybridalloc.cli.output import Step, apart, progress, show, show_json
from hybridalloc.cli.picture import PICTURE, require_picture, write_picture
from hybridalloc.cli.searching import Case, Limits, bound, exit_code, limits, search
from hybridalloc.cli.static.answers import Search, solve_csv
from hybridalloc.compose import name_of, parse
from hybridalloc.errors import HybridAllocError, InputError
from hybridalloc.interruption import Interruption
from hybridalloc.io.files import require_writable
from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import holds_buffers
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.answers import answer_table
from hybridalloc.report.finders import who_found
from hybridalloc.report.records import Record, record, reference_times
from hybridalloc.solver import Result
from hybridalloc.solving import DEFAULT_STRATEGY, bounded


def solve(
    input_path: Input,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="A name that `hybridalloc strategies` lists, or a composition such "
            "as `best(A@5s,B)>C`.",
        ),
    ] = DEFAULT_STRATEGY,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    max_slices: MaxSlices = None,
    time_limit: TimeLimit = None,
    bound_time: BoundTime = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="The most iterations.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    warm_start: WarmStart = None,
    is_robust: IsRobust = False,
    is_expressible: IsExpressible = False,
    minimize_capacity: MinimizeCapacity = False,
    reserve: Reserve = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="MAP.json",
            help="Write the map; of a CSV file, the offsets, as .csv, .h or .json.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar=PICTURE, help="Draw the map.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> int:
    """Look for the memory map of least simulated time.

    Ctrl-C keeps the best so far. Of a CSV file of buffers and their lives: look for
    offsets within the capacity.
    """
    if holds_buffers(input_path):
        require_unset(PROGRAM, target=target, cost_model=cost_model)
        require_unset(PROGRAM, max_slices=max_slices, bound_time=bound_time)
        require_unset(PROGRAM, iterations=iterations, warm_start=warm_start)
        require_unset(PROGRAM, robust=is_robust, expressible=is_expressible, plot=plot)
        sought = Search(time_limit, seed, workers, minimize_capacity)
        options = (strategy, capacity, reserve or (), sought, out)
        return solve_csv(input_path, *options, as_json=as_json)
    require_unset(BUFFERS, minimize_capacity=minimize_capacity, reserve=reserve)
    if out is not None:
        require_writable(out)
    if plot is not None:
        require_picture(plot)
    require_start(warm_start, is_robust=is_robust)
    solver = parse(strategy)  # refused, if so, before anything is read
    given = limits(time_limit, bound_time, iterations, seed, workers)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity, max_slices)
        start = None if warm_start is None else given_map(warm_start, problem)
        references = reference_times(problem)
        case = Case(
            str(input_path), problem, references, start, is_robust, is_expressible
        )
        result = _answer(case, strategy, given, step)
    found = record(case.path, problem, result, case.references)
    written, failure = write_best(result.map, problem, out)
    drawn, other_failure = write_picture(result.map, problem, plot)
    finders = who_found(result, references.slow_s, name_of(solver))
    _tell(found, finders, [*written, *drawn], failure or other_failure, as_json=as_json)
    return exit_code([found])


def _tell(
    found: Record,
    finders: list[RenderableType],
    written: list[str],
    failure: HybridAllocError | None,
    *,
    as_json: bool,
) -> None:
    """Show an answer, even if a file could not be written."""
    if as_json:
        show_json(found.as_json())
    else:
        show(answer_table(found), *finders, *apart(written))
    if failure is not None:
        raise failure


def _answer(case: Case, strategy: str, given: Limits, step: Step) -> Result:
    """Search, then bound; Ctrl-C leaves what is not done yet."""
    deadline = time.monotonic() + given.time_limit
    with Interruption() as interruption:
        result = search(case, strategy, given, step)
        if interruption.happened:
            return result
        seconds = min(given.bound_time, deadline - time.monotonic())
        return bounded(result, bound(case, [result], seconds, step))


def write_best(
    best: MemoryMap | None, problem: Problem, out: Path | None
) -> tuple[list[str], InputError | None]:
    """Write a map; what to say of it, and an error that must not cost the answer."""
    if out is None or best is None:
        return [], None
    try:
        write_map(best, problem, out)
    except InputError as error:
        return [], error
    return [f"map written to {out}"], None
