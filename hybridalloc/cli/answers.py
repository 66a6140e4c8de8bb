"""``solve`` and ``compare``: look for maps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.interruption import Interruption
from hybridalloc.cli.options import (
    Capacity,
    Input,
    Json,
    Model,
    TargetName,
    TimeLimit,
    given_map,
    read_given,
    say_reading,
)
from hybridalloc.cli.output import Step, progress, show, show_json
from hybridalloc.compose import parse, split
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import require_writable
from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.records import (
    Record,
    References,
    record,
    reference_times,
)
from hybridalloc.report.tables import answer_table, comparison_table, short_name
from hybridalloc.report.units import parse_size, time_text
from hybridalloc.solver import Incumbent, Status
from hybridalloc.solving import DEFAULT_STRATEGY
from hybridalloc.solving import solve as find_map

Seed = Annotated[int, typer.Option(min=0, help="The same seed, the same map.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes or threads.")]


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
    time_limit: TimeLimit = None,
    iterations: Annotated[
        int | None, typer.Option(min=0, help="The most iterations.", show_default=False)
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    warm_start: Annotated[
        str | None,
        typer.Option(
            metavar="MAP|input",
            help="A map file to start from, or `input`: the compiler's own answer.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="MAP.json", help="Write the map.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> int:
    """Look for the memory map of least simulated time; Ctrl-C keeps the best so far."""
    if out is not None:
        require_writable(out)
    parse(strategy)  # refused, if so, before anything is read
    limits = _Limits(time_limit, iterations, seed, workers)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        start = None if warm_start is None else given_map(warm_start, problem)
        case = _Case(str(input_path), problem, reference_times(problem))
        found, best = _answer(case, strategy, limits, step, start)
    written, failure = _write(best, problem, out)
    if as_json:
        show_json(found.as_json())
    else:
        show(answer_table(found), *written)
    if failure is not None:
        raise failure
    return _exit_code([found])


def compare(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT...", help="As of `solve`; several.", show_default=False
        ),
    ],
    strategies: Annotated[
        str, typer.Option(metavar="A,B,C", help="As of `solve`; several.")
    ] = DEFAULT_STRATEGY,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Sizes of fast memory, such as 16MiB,128MiB. [default: the target's]",
            show_default=False,
        ),
    ] = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
) -> int:
    """Solve each input with each strategy at each capacity; with geometric means."""
    names = split(strategies)
    sizes = [None] if capacity is None else list(map(parse_size, capacity.split(",")))
    problems: dict[str, Problem] = {}
    with progress(len(inputs)) as step:
        for path in inputs:
            say_reading(step, path)
            problems[str(path)] = read_problem(
                path, target=target, cost_model=cost_model, capacity=sizes[0]
            )
            step("", advance=1)
    limits = _Limits(time_limit, None, seed, workers)
    rows = _compare(problems, names, sizes, limits)
    if as_json:
        show_json([row.as_json() for row in rows])
    elif rows:
        show(comparison_table(rows))
    return _exit_code(rows)


def _write(
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


@dataclass(frozen=True, slots=True)
class _Limits:
    time_limit: float | None
    iterations: int | None
    seed: int
    workers: int


@dataclass(frozen=True, slots=True)
class _Case:
    """A problem and what its answers are compared with."""

    path: str
    problem: Problem
    references: References


def _compare(
    problems: dict[str, Problem],
    names: Sequence[str],
    sizes: Sequence[int | None],
    limits: _Limits,
) -> list[Record]:
    """The rows; those so far where Ctrl-C ends the comparison.

    Raises:
        UsageError: No strategy applies to any input.
    """
    rows: list[Record] = []
    refused: list[UsageError] = []
    total = len(problems) * len(names) * len(sizes)
    with (
        suppress(KeyboardInterrupt),
        Interruption() as interruption,
        progress(total) as step,
    ):
        for case in _cases(problems, sizes):
            for name in names:
                try:
                    rows.append(_answer(case, name, limits, step)[0])
                except UsageError as error:
                    refused.append(UsageError(f"{case.path}: {error}"))
                step("", advance=1)
                if interruption.happened:
                    return rows
    if refused and not rows:
        raise refused[0]
    for refusal in refused:
        warnings.warn(str(refusal), stacklevel=2)
    return rows


def _cases(
    problems: dict[str, Problem], sizes: Sequence[int | None]
) -> Iterator[_Case]:
    for path, problem in problems.items():
        for size in sizes:
            resized = problem if size is None else problem.with_capacity(size)
            yield _Case(path, resized, reference_times(resized))


def _answer(
    case: _Case,
    strategy: str,
    limits: _Limits,
    step: Step,
    warm_start: MemoryMap | None = None,
) -> tuple[Record, MemoryMap | None]:
    """Solve a problem, showing the best time so far; its record and its map."""
    what = f"{short_name(case.path)}: {strategy}"
    step(what)

    def improved(incumbent: Incumbent) -> None:
        step(f"{what}, {time_text(incumbent.time)} so far")

    result = find_map(
        case.problem,
        strategy,
        time_limit=limits.time_limit,
        iterations=limits.iterations,
        seed=limits.seed,
        workers=limits.workers,
        warm_start=warm_start,
        callback=improved,
    )
    found = record(case.path, case.problem, result, case.references)
    return found, result.map


def _exit_code(rows: list[Record]) -> int:
    if any(row.answered for row in rows):
        return Exit.ANSWER
    if rows and all(row.status == Status.INFEASIBLE for row in rows):
        return Exit.INFEASIBLE
    return Exit.NO_ANSWER
