"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from hybridalloc.cli.endings import tell
from hybridalloc.cli.output import Step
from hybridalloc.errors import UsageError
from hybridalloc.io.files import read_text
from hybridalloc.io.json_format import capacity_of_map, loads_map
from hybridalloc.io.read import holds_buffers, read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.tables import short_name
from hybridalloc.report.units import parse_size, size_text

COMPILER_MAP = "input"
"""What stands, in place of a map's path, for the compiler's own answer."""

PROGRAM = "a program"
BUFFERS = "a CSV file of buffers"
"""The two kinds of inputs, in words."""

_PROGRAM_FILES = (
    "A problem file, a workload folder, scheduled HLO text (.gz or not), or a model of "
    "ONNX (.onnx) or PyTorch (.pt2; if you trust it, for PyTorch may unpickle it)"
)
_MAP_FILES = "A map file, or `input`: the compiler's own answer"


def _input(help_text: str) -> Any:
    return typer.Argument(metavar="INPUT", help=help_text, show_default=False)


def _map(help_text: str) -> Any:
    return typer.Argument(metavar="MAP|input", help=help_text, show_default=False)


ProgramInput = Annotated[Path, _input(f"{_PROGRAM_FILES}.")]
Input = Annotated[Path, _input(f"{_PROGRAM_FILES}; or {BUFFERS}.")]
"""Of a program, or of static allocation."""
ProgramMap = Annotated[str, _map(f"{_MAP_FILES}.")]
GivenMap = Annotated[str, _map(f"{_MAP_FILES}; of {BUFFERS}, one with their offsets.")]
TargetName = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="A built-in target or a .toml file. [default: tpu-v4i, or the file's]",
        show_default=False,
    ),
]
Model = Annotated[
    CostModel | None,
    typer.Option(
        "--cost-model",
        help="How time is judged. [default: roofline, or the file's]",
        show_default=False,
    ),
]
Capacity = Annotated[
    str | None,
    typer.Option(
        "--capacity",
        metavar="BYTES",
        help="Fast memory, such as 64MiB. [default: the target's]",
        show_default=False,
    ),
]
MaxSlices = Annotated[
    int | None,
    typer.Option(
        "--max-slices",
        min=1,
        metavar="N",
        help="The most parts of one prefetch. [default: the target's]",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SEC",
        help="Seconds. [default: 60, or none with --iterations]",
        show_default=False,
    ),
]
BoundTime = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SEC",
        help="Of these, seconds for a lower bound at the end; 0 for none. [default: a "
        "fifth of the time limit, at most 30; 10 without a limit]",
        show_default=False,
    ),
]
WarmStart = Annotated[
    str | None,
    typer.Option(
        metavar="MAP|input",
        help="A map file to start from, or `input`: the compiler's own answer.",
        show_default=False,
    ),
]
IsRobust = Annotated[
    bool,
    typer.Option(
        "--robust",
        help="Be slower than the warm start under neither cost model, and best in the "
        "geometric mean of both.",
    ),
]
IsExpressible = Annotated[
    bool,
    typer.Option(
        "--expressible",
        help="Look among the maps that XLA can be told to carry out, for `apply`.",
    ),
]
MinimizeCapacity = Annotated[
    bool,
    typer.Option(
        "--minimize-capacity", help="Of a CSV file: look for the least capacity."
    ),
]
Reserve = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LOW:HIGH",
        help="Of a CSV file: bytes that no buffer may touch; may be repeated.",
        show_default=False,
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, metavar="N", help="The same seed, the same answer.")
]
Workers = Annotated[int, typer.Option(min=1, metavar="N", help="Processes or threads.")]
Rows = Annotated[
    int, typer.Option(min=1, metavar="N", help="The most rows of a table.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")
]


def size_or_none(text: str | None) -> int | None:
    """The bytes that an option says, if it is given.

    Raises:
        UsageError: It is not a size.
    """
    return None if text is None else parse_size(text)


def are_buffers(paths: Iterable[Path]) -> bool:
    """Whether inputs are CSV files of buffers, and not programs.

    Raises:
        UsageError: Some are and some are not.
    """
    kinds = {holds_buffers(path) for path in paths}
    if len(kinds) > 1:
        raise UsageError("expected programs or CSV files of buffers, not both")
    return kinds == {True}


def require_unset(what: str, **options: object) -> None:
    """Refuse options that say nothing of an input.

    Args:
        what: What kind of input would give them a meaning.
        options: Their values by name.

    Raises:
        UsageError: One was given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"--{name.replace('_', '-')}: expected {what}")


def read_given(
    step: Step,
    path: Path,
    target: str | None,
    cost_model: CostModel | None,
    capacity: str | None,
    max_slices: int | None = None,
) -> Problem:
    """The problem that a command's options describe; the step says that it is read.

    Raises:
        InputError: The input cannot be read.
        UsageError: The target is unknown, or the capacity is no size or missing.
    """
    say_reading(step, path)
    return read_problem(
        path,
        target=target,
        cost_model=cost_model,
        capacity=size_or_none(capacity),
        max_slices=max_slices,
    )


def say_reading(step: Step, path: Path) -> None:
    """Show that an input is being read."""
    step(f"reading {short_name(str(path))}")


def require_start(warm_start: str | None, *, is_robust: bool) -> None:
    """Refuse a robust search that has nothing to start from.

    Raises:
        UsageError: There is no warm start.
    """
    if is_robust and warm_start is None:
        raise UsageError(
            "--robust: expected --warm-start MAP or --warm-start input, the map than "
            "which none may be slower under either cost model"
        )


def _compare_capacity(name: str, made_for: int, capacity: int) -> None:
    if made_for != capacity:
        tell(
            "warning",
            f"{name} was made for {size_text(made_for)} of fast memory, and is judged "
            f"here with {size_text(capacity)} (--capacity {made_for} for its own)",
        )


def given_map(name: str, problem: Problem) -> MemoryMap:
    """The map in a file, or the compiler's own answer for ``input``.

    Whoever gives a map that was made for another capacity is told so.

    Raises:
        InputError: The file is not a map of this program.
        UsageError: The input does not carry the compiler's answer.
    """
    if name != COMPILER_MAP:
        text = read_text(name)
        memory_map = loads_map(text, problem, name)
        _compare_capacity(name, capacity_of_map(text, name), problem.target.capacity)
        return memory_map
    if problem.compiler_map is None:
        raise UsageError(
            f"{COMPILER_MAP!r} stands for the compiler's own answer, which "
            f"{problem.program.name} does not carry (expected a workload folder with "
            f"after_msa, allocinfo and bufferinfo, or a problem file with compiler_map)"
        )
    return problem.compiler_map
