"""``show``: a picture of a memory map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    Input,
    Model,
    TargetName,
    given_map,
    size_or_none,
)
from hybridalloc.cli.output import progress
from hybridalloc.cli.output import show as say
from hybridalloc.io.files import require_writable
from hybridalloc.io.read import read_problem
from hybridalloc.report.tables import short_name


def show(
    input_path: Input,
    map_path: Annotated[
        str,
        typer.Argument(
            metavar="MAP|input",
            help="A map file, or `input`: the compiler's own answer.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.png|svg|pdf", help="The picture.", show_default=False
        ),
    ],
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    x: Annotated[
        str,
        typer.Option(metavar="instruction|time", help="What goes to the right."),
    ] = "instruction",
    buffer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A buffer to bring out.", show_default=False),
    ] = None,
) -> int:
    """Draw a memory map: time to the right, offsets upwards, occupancy below."""
    from hybridalloc.report.picture import draw, require_format  # loads matplotlib

    require_format(out)
    require_writable(out)
    with progress() as step:
        step(f"reading {short_name(str(input_path))}")
        problem = read_problem(
            input_path,
            target=target,
            cost_model=cost_model,
            capacity=size_or_none(capacity),
        )
        memory_map = given_map(map_path, problem)
        step(f"drawing {out.name}")
        draw(problem, memory_map, out, x=x, buffer=buffer)
    say(f"picture written to {out}")
    return Exit.ANSWER
