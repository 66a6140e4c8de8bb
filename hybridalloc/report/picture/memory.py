"""The main panel: time x offset, a rectangle for each allocation."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from hybridalloc.arrays import Floats
from hybridalloc.program import Program
from hybridalloc.report.picture.boxes import Canvas
from hybridalloc.report.picture.scene import Piece, Scene, steps
from hybridalloc.report.picture.style import FAINT, INK, RESERVED, SCRATCH, WRONG

_UNITS = ((2**33, 2**30, "GiB"), (2**20, 2**20, "MiB"), (2**10, 2**10, "KiB"))
"""From which amount on a unit is used, its bytes and its name."""


def draw_memory(
    axes: Axes, scene: Scene, pieces: list[Piece], chosen: int | None
) -> None:
    """The panel of offsets.

    Args:
        axes: Where to draw.
        scene: The map.
        pieces: Its rectangles.
        chosen: The buffer to bring out, if any.
    """
    capacity = scene.problem.target.capacity
    top = max([capacity, *(piece.high for piece in pieces)])
    scale, unit = byte_scale(top)
    axes.set_ylim(0, top / scale)
    axes.set_ylabel(f"offset in fast memory, {unit}")
    axes.yaxis.set_major_locator(MultipleLocator(tick_step(top / scale)))
    past = top > capacity
    axes.axhline(
        capacity / scale,
        color=WRONG if past else INK,
        lw=1.2 if past else 0.8,
        zorder=5,
    )
    _draw_unusable(axes, scene, scale)
    canvas = Canvas(axes, scene, scale)
    others = [piece for piece in pieces if piece.buffer != chosen]
    own = [piece for piece in pieces if piece.buffer == chosen]
    canvas.draw(others, faded=chosen is not None)
    canvas.draw(own, outlined=True)
    canvas.write_names(pieces if chosen is None else own)
    if not pieces:
        axes.annotate(
            "nothing in fast memory",
            (0.5, 0.5),
            xycoords="axes fraction",
            ha="center",
            color=FAINT,
            size=9,
        )


def byte_scale(size: float) -> tuple[int, str]:
    """The unit in which amounts up to this one are shown, in bytes, and its name."""
    for least, factor, unit in _UNITS:
        if size >= least:
            return factor, unit
    return 1, "B"


def tick_step(top: float) -> float:
    """A power of two that goes into an amount five to eight times or so."""
    return float(2.0 ** math.ceil(math.log2(top / 8.5)))


def _draw_unusable(axes: Axes, scene: Scene, scale: int) -> None:
    """Reserved ranges, and the scratch of instructions."""
    for low, high in scene.problem.target.fast.reserved:
        axes.axhspan(
            low / scale, high / scale, fc=RESERVED, ec="white", hatch="xxx", lw=0
        )
    scratch = _scratch(scene.problem.program)
    if scratch.any():
        values, edges = steps(scene, scratch / scale)
        axes.stairs(values, edges, fill=True, fc=SCRATCH, ec=SCRATCH, lw=0.3)


def _scratch(program: Program) -> Floats:
    """(T,): bytes from offset 0 that each instruction needs."""
    return np.array([float(x.scratch_bytes) for x in program.instructions])
