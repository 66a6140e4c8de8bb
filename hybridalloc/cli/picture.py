"""``show``: a picture of a memory map, or of two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    COMPILER_MAP,
    PROGRAM,
    Capacity,
    Input,
    Model,
    TargetName,
    given_map,
    read_given,
    require_unset,
)
from hybridalloc.cli.output import progress, show
from hybridalloc.cli.static.inspection import show_csv
from hybridalloc.errors import HybridAllocError, UsageError
from hybridalloc.io.files import require_writable
from hybridalloc.io.read import holds_buffers
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.formats import FORMATS
from hybridalloc.report.tables import short_names
from hybridalloc.report.words import XLA_ANSWER

PICTURE = f"FILE{'|'.join(FORMATS).replace('|.', '|')}"
MOST_MAPS = 2


def picture(
    input_path: Input,
    maps: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MAP|input",
            help="Map files, one or two to compare, or `input`: the compiler's own "
            "answer. [default: that, or nothing in fast memory if there is none]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar=PICTURE, help="The picture.", show_default=False),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="A trace of one run, for Perfetto.",
            show_default=False,
        ),
    ] = None,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    x: Annotated[
        str | None,
        typer.Option(
            metavar="instruction|time",
            help="What goes to the right. [default: instruction]",
            show_default=False,
        ),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="BUFFER",
            help="A buffer to bring out: its name, a part of it that no other has, or "
            "#12: its index.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Draw a memory map, or two side by side.

    Time to the right, offsets upwards. Beneath: the bytes held and live, the copy
    queues, stalls, and the time of each instruction. An HTML page can be zoomed and
    searched, and works offline. Of a CSV file of buffers: draw the offsets in another
    one.
    """
    if holds_buffers(input_path):
        require_unset(PROGRAM, target=target, cost_model=cost_model)
        require_unset(PROGRAM, buffer=buffer, x=x, trace=trace)
        return show_csv(input_path, maps or (), capacity, out)
    from hybridalloc.report.picture import XAxis, draw, require_axis  # large
    from hybridalloc.report.trace import write_trace

    names = maps or [COMPILER_MAP]
    _require_usable(names, out, trace)
    if out is None:
        require_unset(f"--out {PICTURE}", x=x, buffer=buffer)
    x = require_axis(x or XAxis.INSTRUCTION)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        first, *rest = [_map(name, problem, given=bool(maps)) for name in names]
        beside = rest[0] if rest else None
        short = {**short_names(names), COMPILER_MAP: XLA_ANSWER}
        labels = short[names[0]], short[names[-1]]
        written = []
        if out is not None:
            step(f"drawing {out.name}")
            draw(problem, first, out, beside=beside, labels=labels, x=x, buffer=buffer)
            written.append(f"picture written to {out}")
        if trace is not None:
            step(f"writing {trace.name}")
            write_trace(problem, first, trace, beside=beside, labels=labels)
            written.append(f"trace written to {trace}")
    show(*written)
    return Exit.ANSWER


def require_picture(path: Path) -> None:
    """Find out before any work that a picture can be written.

    Raises:
        UsageError: Its name ends in none of the formats, or uPlot is not there.
        InputError: It could not be written.
    """
    from hybridalloc.report import picture  # loads the simulator

    picture.require_picture(path)
    require_writable(path)


def write_picture(
    best: MemoryMap | None, problem: Problem, plot: Path | None
) -> tuple[list[str], HybridAllocError | None]:
    """Draw a map; what to say of it, and an error that must not cost the answer."""
    if plot is None or best is None:
        return [], None
    from hybridalloc.report.picture import draw  # loads the simulator

    try:
        draw(problem, best, plot)
    except HybridAllocError as error:
        return [], error
    return [f"picture written to {plot}"], None


def _require_usable(names: list[str], out: Path | None, trace: Path | None) -> None:
    """Find out before any work whether there is something to do.

    Raises:
        UsageError: There are too many maps, or no files to write.
        InputError: A file could not be written.
    """
    if len(names) > MOST_MAPS:
        raise UsageError(f"{len(names)} maps: expected one, or two to compare")
    if out is None and trace is None:
        raise UsageError(f"expected --out {PICTURE} or --trace FILE.json")
    if out is not None:
        require_picture(out)
    if trace is not None:
        require_writable(trace)


def _map(name: str, problem: Problem, *, given: bool) -> MemoryMap:
    """The map of this name; if none was given, perhaps one of nothing."""
    if not given and problem.compiler_map is None:
        return MemoryMap()
    return given_map(name, problem)
