"""``show``: a picture of a memory map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    GivenMap,
    Input,
    Model,
    TargetName,
    given_map,
    read_given,
)
from hybridalloc.cli.output import progress, show
from hybridalloc.io.files import require_writable


def picture(
    input_path: Input,
    map_path: GivenMap,
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
        typer.Option(
            metavar="BUFFER",
            help="A buffer to bring out: its name, a part of it that no other has, or "
            "#12: its index.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Draw a memory map: time to the right, offsets upwards, occupancy below."""
    from hybridalloc.report.picture import draw, require_format  # loads matplotlib

    require_format(out)
    require_writable(out)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        memory_map = given_map(map_path, problem)
        step(f"drawing {out.name}")
        draw(problem, memory_map, out, x=x, buffer=buffer)
    show(f"picture written to {out}")
    return Exit.ANSWER
