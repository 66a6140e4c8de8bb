"""``solve`` and ``compare`` of CSV files of buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hybridalloc.cli.options import size_or_none
from hybridalloc.cli.output import Step, apart, progress, show, show_json
from hybridalloc.cli.searching import exit_code
from hybridalloc.errors import InputError, UsageError
from hybridalloc.interruption import Interruption
from hybridalloc.io.arena import require_known_ending, write_offsets
from hybridalloc.io.files import require_writable
from hybridalloc.io.minimalloc import read_buffers
from hybridalloc.report.static import (
    StaticRecord,
    static_comparison,
    static_record,
    static_table,
)
from hybridalloc.report.tables import short_name
from hybridalloc.report.units import parse_size
from hybridalloc.static.problem import StaticProblem
from hybridalloc.static.result import StaticResult
from hybridalloc.static.solving import DEFAULT_TIME_LIMIT_S, solve_static
from hybridalloc.static.strategies import static_texts


@dataclass(frozen=True, slots=True)
class Search:
    """How offsets are looked for."""

    time_limit: float | None
    """Seconds; ``None``: as many as usual."""
    seed: int
    workers: int
    minimize_capacity: bool = False

    def run(self, problem: StaticProblem, strategy: str) -> StaticResult:
        """Have a strategy look for offsets; Ctrl-C keeps the best so far."""
        limit = DEFAULT_TIME_LIMIT_S if self.time_limit is None else self.time_limit
        return solve_static(
            problem,
            strategy,
            self.minimize_capacity,
            time_limit=limit,
            seed=self.seed,
            workers=self.workers,
        )


def solve_csv(
    path: Path,
    strategy: str,
    capacity: str | None,
    reserved: Sequence[str],
    given: Search,
    out: Path | None,
    *,
    as_json: bool,
) -> int:
    """Look for offsets, and write them.

    Raises:
        InputError: The file cannot be read, or the offsets cannot be written.
        UsageError: The strategy or an option is none.
    """
    if out is not None:
        require_known_ending(out)
        require_writable(out)
    with progress() as step:
        step(f"{short_name(str(path))}: {strategy}")
        problem = read_given_buffers(path, capacity, reserved)
        result = given.run(problem, strategy)
    written, failure = _write(out, problem, result)
    row = static_record(str(path), result)
    if as_json:
        show_json(row.as_json())
    else:
        show(static_table(row), *apart(written))
    if failure is not None:
        raise failure
    return exit_code([row])


def compare_csv(
    paths: Sequence[Path],
    strategies: str,
    capacities: str | None,
    given: Search,
    *,
    as_json: bool,
) -> int:
    """Look for offsets in each file, with each strategy, at each capacity.

    Raises:
        InputError: A file cannot be read.
        UsageError: A strategy or a capacity is none.
    """
    names = static_texts(strategies)
    sizes = None if capacities is None else list(map(parse_size, capacities.split(",")))
    problems = [x for path in paths for x in _resized(path, sizes)]
    rows: list[StaticRecord] = []
    with (
        suppress(KeyboardInterrupt),
        Interruption() as interruption,
        progress(len(problems) * len(names)) as step,
    ):
        for row in _rows(problems, names, given, step):
            rows.append(row)
            if interruption.happened:
                break
    if not rows:
        raise KeyboardInterrupt
    if as_json:
        show_json([row.as_json() for row in rows])
    else:
        show(static_comparison(rows))
    return exit_code(rows)


def read_given_buffers(
    path: Path, capacity: str | None, reserved: Sequence[str] = ()
) -> StaticProblem:
    """The buffers in a file, with the capacity in its name if none is given.

    Args:
        path: The file.
        capacity: A size.
        reserved: Ranges of bytes that no buffer may touch, such as ``0:4KiB``.

    Raises:
        InputError: The file cannot be read.
        UsageError: The capacity is no size, or a range is none.
    """
    problem = read_buffers(path, size_or_none(capacity))
    try:
        return replace(problem, reserved=tuple(map(_range, reserved)))
    except ValueError as error:
        raise UsageError(f"--reserve: {error}") from error


def _resized(
    path: Path, sizes: Sequence[int] | None
) -> list[tuple[Path, StaticProblem]]:
    """The buffers in a file, once with each capacity, if any are given."""
    problem = read_buffers(path)
    if sizes is None:
        return [(path, problem)]
    return [(path, replace(problem, capacity=size)) for size in sizes]


def _rows(
    problems: Sequence[tuple[Path, StaticProblem]],
    strategies: Sequence[str],
    given: Search,
    step: Step,
) -> Iterator[StaticRecord]:
    for path, problem in problems:
        for strategy in strategies:
            step(f"{short_name(str(path))}: {strategy}")
            yield static_record(str(path), given.run(problem, strategy))
            step("", advance=1)


def _range(text: str) -> tuple[int, int]:
    low, colon, high = text.partition(":")
    if not colon:
        raise UsageError(f"--reserve {text!r}: expected LOW:HIGH, such as 0:4KiB")
    return (0 if low.strip() == "0" else parse_size(low)), parse_size(high)


def _write(
    out: Path | None, problem: StaticProblem, result: StaticResult
) -> tuple[list[str], InputError | None]:
    """Write the offsets; what to say of it, and an error that must not cost them."""
    if out is None or result.offsets is None or result.peak_bytes is None:
        return [], None
    try:
        write_offsets(out, problem, result.offsets, result.peak_bytes)
    except InputError as error:
        return [], error
    return [f"offsets written to {out}"], None
