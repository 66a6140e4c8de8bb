"""``show``: a picture of a memory map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    PROGRAM,
    Capacity,
    GivenMap,
    Input,
    Model,
    TargetName,
    given_map,
    read_given,
    require_unset,
)
from hybridalloc.cli.output import progress, show
from hybridalloc.cli.static.inspection import show_csv
from hybridalloc.io.files import require_writable
from hybridalloc.io.read import holds_buffers

X_AXIS = "instruction"
"""What goes to the right if nothing else is said."""


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
    ] = X_AXIS,
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
    """Draw a memory map: time to the right, offsets upwards, occupancy below.

    Of a CSV file of buffers: draw the offsets in another one.
    """
    from hybridalloc.report.picture import draw, require_format  # loads matplotlib

    require_format(out)
    require_writable(out)
    if holds_buffers(input_path):
        require_unset(PROGRAM, target=target, cost_model=cost_model, buffer=buffer)
        require_unset(PROGRAM, x=None if x == X_AXIS else x)
        return show_csv(input_path, map_path, capacity, out)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        memory_map = given_map(map_path, problem)
        step(f"drawing {out.name}")
        draw(problem, memory_map, out, x=x, buffer=buffer)
    show(f"picture written to {out}")
    return Exit.ANSWER
