"""``solve`` of a CSV file of buffers, and what ``convert`` makes of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.output import progress, show, show_json
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.arena import require_known_ending, write_offsets
from hybridalloc.io.files import require_writable
from hybridalloc.io.minimalloc import read_buffers, write_buffers
from hybridalloc.problem import Problem
from hybridalloc.report.static import static_record, static_table
from hybridalloc.report.tables import short_name
from hybridalloc.report.units import parse_size
from hybridalloc.solver import Status
from hybridalloc.solving import DEFAULT_STRATEGY as PROGRAM_STRATEGY
from hybridalloc.static.answer import StaticAnswer
from hybridalloc.static.checker import check_offsets
from hybridalloc.static.problem import StaticProblem
from hybridalloc.static.solving import DEFAULT_TIME_LIMIT_S, solve_static
from hybridalloc.static.strategies import DEFAULT_STRATEGY
from hybridalloc.static.temporaries import temporaries

MinimizeCapacity = Annotated[
    bool,
    typer.Option(
        "--minimize-capacity", help="Of a CSV file: look for the least capacity."
    ),
]
Reserve = Annotated[
    list[str] | None,
    typer.Option(
        "--reserve",
        metavar="LOW:HIGH",
        help="Of a CSV file: bytes that no buffer may touch; may be repeated.",
        show_default=False,
    ),
]
_OF_PROGRAMS = (
    "target",
    "cost_model",
    "max_slices",
    "bound_time",
    "iterations",
    "warm_start",
    "is_robust",
    "is_expressible",
)
"""The options of ``solve`` that say nothing of a CSV file."""


@dataclass(frozen=True, slots=True)
class StaticRequest:
    """What the options of ``solve`` ask of a CSV file."""

    path: Path
    strategy: str
    capacity: str | None
    reserved: tuple[str, ...]
    minimize_capacity: bool
    time_limit: float | None
    seed: int
    workers: int
    out: Path | None


def require_for_csv(**options: object) -> None:
    """Refuse options that only a CSV file of buffers gives a meaning.

    Raises:
        UsageError: One was given.
    """
    for name, value in options.items():
        if value:
            raise UsageError(
                f"--{name.replace('_', '-')}: expected a CSV file of buffers"
            )


def solve_csv(options: Mapping[str, Any]) -> int:
    """Look for offsets; Ctrl-C keeps the best so far.

    Args:
        options: Those of ``solve``, by the names of its arguments.

    Raises:
        UsageError: One was given that says nothing of a CSV file.
    """
    for name in _OF_PROGRAMS:
        if options[name] not in (None, False):
            option = name.removeprefix("is_").replace("_", "-")
            raise UsageError(f"--{option}: does not apply to a CSV file of buffers")
    strategy = options["strategy"]
    request = StaticRequest(
        path=options["input_path"],
        strategy=DEFAULT_STRATEGY if strategy == PROGRAM_STRATEGY else strategy,
        capacity=options["capacity"],
        reserved=tuple(options["reserve"] or ()),
        minimize_capacity=options["minimize_capacity"],
        time_limit=options["time_limit"],
        seed=options["seed"],
        workers=options["workers"],
        out=options["out"],
    )
    return _solve(request, as_json=options["as_json"])


def _solve(request: StaticRequest, *, as_json: bool) -> int:
    if request.out is not None:
        require_known_ending(request.out)
        require_writable(request.out)
    with progress() as step:
        step(f"{short_name(str(request.path))}: {request.strategy}")
        problem = _read(request)
        answer = solve_static(
            problem,
            request.strategy,
            time_limit=_time_limit(request),
            seed=request.seed,
            workers=request.workers,
            minimize_capacity=request.minimize_capacity,
        )
    written, failure = _write(request.out, problem, answer)
    if as_json:
        show_json(static_record(str(request.path), answer))
    else:
        show(static_table(str(request.path), answer), *written)
    if failure is not None:
        raise failure
    return _exit_code(answer)


def check_csv(
    path: Path, offsets_path: str, capacity: str | None, *, as_json: bool
) -> int:
    """Check the offsets in a CSV file, and name each rule that they break.

    Args:
        path: The buffers.
        offsets_path: The same buffers, in any order, with an offset each.
        capacity: Bytes, if not those in the first file's name.
        as_json: Whether to print JSON.

    Raises:
        InputError: A file cannot be read, or the second lacks an offset.
    """
    problem = read_buffers(path, None if capacity is None else parse_size(capacity))
    found = {x.name: x.offset for x in read_buffers(offsets_path).buffers}
    offsets = [found.get(x.name) for x in problem.buffers]
    for buffer, offset in zip(problem.buffers, offsets, strict=True):
        if offset is None:
            raise InputError(offsets_path, f"expected an offset of {buffer.name}")
    violations = check_offsets(problem, [x for x in offsets if x is not None])
    if as_json:
        verdict = {
            "input": str(path),
            "map": offsets_path,
            "capacity_bytes": problem.capacity,
            "valid": not violations,
            "violations": [asdict(violation) for violation in violations],
        }
        show_json(verdict)
    else:
        lines = [f"{violation.rule}: {violation.message}" for violation in violations]
        show(*(lines or ["valid"]))
    return Exit.INFEASIBLE if violations else Exit.ANSWER


def _read(request: StaticRequest) -> StaticProblem:
    capacity = None if request.capacity is None else parse_size(request.capacity)
    problem = read_buffers(request.path, capacity)
    reserved = tuple(map(_range, request.reserved))
    try:
        return replace(problem, reserved=reserved)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _range(text: str) -> tuple[int, int]:
    """The range of bytes that a text such as ``0:4KiB`` says."""
    low, colon, high = text.partition(":")
    if not colon:
        raise UsageError(f"--reserve {text!r}: expected LOW:HIGH, such as 0:4KiB")
    return (0 if low.strip() == "0" else parse_size(low)), parse_size(high)


def _time_limit(request: StaticRequest) -> float:
    if request.time_limit is None:
        return DEFAULT_TIME_LIMIT_S
    return request.time_limit


def _write(
    out: Path | None, problem: StaticProblem, answer: StaticAnswer
) -> tuple[list[str], InputError | None]:
    """Write the offsets; what to say of it, and an error that must not cost them."""
    if out is None or answer.offsets is None or answer.peak_bytes is None:
        return [], None
    try:
        write_offsets(out, problem, answer.offsets, answer.peak_bytes)
    except InputError as error:
        return [], error
    return [f"offsets written to {out}"], None


def _exit_code(answer: StaticAnswer) -> Exit:
    if answer.offsets is not None:
        return Exit.ANSWER
    known = answer.status is Status.INFEASIBLE
    return Exit.INFEASIBLE if known else Exit.NO_ANSWER


def write_temporaries(problem: Problem, out: Path) -> None:
    """Write the static problem of a program's temporaries.

    Raises:
        InputError: The file cannot be written.
    """
    write_buffers(out, temporaries(problem))
