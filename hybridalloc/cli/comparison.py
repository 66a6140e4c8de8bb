"""``compare``: look for maps of several programs with several strategies."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.options import (
    PROGRAM,
    BoundTime,
    IsRobust,
    Json,
    MaxSlices,
    Model,
    Seed,
    TargetName,
    TimeLimit,
    WarmStart,
    Workers,
    are_buffers,
    given_map,
    require_start,
    require_unset,
    say_reading,
)
from hybridalloc.cli.output import Step, progress, show, show_json
from hybridalloc.cli.searching import Case, Limits, bound, exit_code, limits, search
from hybridalloc.cli.static.answers import Search, compare_csv
from hybridalloc.compose import split
from hybridalloc.errors import UsageError
from hybridalloc.interruption import Interruption
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.report.answers import comparison_table
from hybridalloc.report.records import Record, record, reference_times
from hybridalloc.report.units import parse_size
from hybridalloc.solver import Result
from hybridalloc.solving import DEFAULT_STRATEGY, bounded


def compare(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT", help="As of `solve`; several.", show_default=False
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
    max_slices: MaxSlices = None,
    time_limit: TimeLimit = None,
    bound_time: BoundTime = None,
    seed: Seed = 0,
    workers: Workers = 1,
    warm_start: WarmStart = None,
    is_robust: IsRobust = False,
    as_json: Json = False,
) -> int:
    """Solve each input with each strategy at each capacity.

    The inputs are programs, or CSV files of buffers. Means are geometric.
    """
    if are_buffers(inputs):
        require_unset(PROGRAM, target=target, cost_model=cost_model)
        require_unset(PROGRAM, max_slices=max_slices, bound_time=bound_time)
        require_unset(PROGRAM, warm_start=warm_start, robust=is_robust)
        sought = Search(time_limit, seed, workers)
        return compare_csv(inputs, strategies, capacity, sought, as_json=as_json)
    require_start(warm_start, is_robust=is_robust)
    names, start = split(strategies), _Start(warm_start, is_robust)
    given = limits(time_limit, bound_time, None, seed, workers)
    sizes = [None] if capacity is None else list(map(parse_size, capacity.split(",")))
    problems: dict[str, Problem] = {}
    with progress(len(inputs)) as step:
        for path in inputs:
            say_reading(step, path)
            problems[str(path)] = read_problem(
                path,
                target=target,
                cost_model=cost_model,
                capacity=sizes[0],
                max_slices=max_slices,
            )
            step("", advance=1)
    rows = _compare(problems, names, sizes, given, start)
    if as_json:
        show_json([row.as_json() for row in rows])
    elif rows:
        show(comparison_table(rows))
    return exit_code(rows)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where all searches start."""

    name: str | None
    """A map's path, or what stands for the compiler's own answer to each input."""
    is_robust: bool

    def of(self, case: Case) -> Case:
        """The case with its warm start.

        Raises:
            InputError: The file is not a map of this program.
            UsageError: The input does not carry the compiler's answer.
        """
        if self.name is None:
            return case
        memory_map = given_map(self.name, case.problem)
        return replace(case, warm_start=memory_map, is_robust=self.is_robust)


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers to a problem, in the order of the strategies."""

    case: Case
    results: list[Result] = field(default_factory=list)
    refused: list[UsageError] = field(default_factory=list)
    """What strategies that do not apply to it say."""

    @property
    def records(self) -> list[Record]:
        case = self.case
        return [
            record(case.path, case.problem, x, case.references) for x in self.results
        ]


def _compare(
    problems: dict[str, Problem],
    names: Sequence[str],
    sizes: Sequence[int | None],
    given: Limits,
    start: _Start,
) -> list[Record]:
    """The rows; those so far where Ctrl-C ends the comparison.

    Raises:
        UsageError: No strategy applies to any input.
    """
    answered: list[_Answers] = []
    total = len(problems) * len(names) * len(sizes)
    with (
        suppress(KeyboardInterrupt),
        Interruption() as interruption,
        progress(total) as step,
    ):
        for case in _cases(problems, sizes):
            answered.append(_Answers(case))
            _answer(answered[-1], names, given, start, step, interruption)
            if interruption.happened:
                break
    if interruption.happened and not any(x.results for x in answered):
        raise KeyboardInterrupt
    rows = [row for answers in answered for row in answers.records]
    refused = [refusal for answers in answered for refusal in answers.refused]
    if refused and not rows:
        raise refused[0]
    for refusal in refused:
        warnings.warn(str(refusal), stacklevel=2)
    return rows


def _cases(problems: dict[str, Problem], sizes: Sequence[int | None]) -> Iterator[Case]:
    for path, problem in problems.items():
        for size in sizes:
            resized = problem if size is None else problem.with_capacity(size)
            yield Case(path, resized, reference_times(resized))


def _answer(
    answers: _Answers,
    names: Sequence[str],
    given: Limits,
    start: _Start,
    step: Step,
    interruption: Interruption,
) -> None:
    """Have each strategy search; then bound once what all of them found."""
    case, results = answers.case, answers.results
    for name in names:
        try:
            results.append(search(start.of(case), name, given, step))
        except UsageError as error:
            answers.refused.append(UsageError(f"{case.path}: {error}"))
        step("", advance=1)
        if interruption.happened:
            return
    if results:
        bound_s = bound(case, results, given.bound_time, step)
        results[:] = [bounded(result, bound_s) for result in results]
