"""The main panel: time x offset, a rectangle for each allocation."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from hybridalloc.arrays import Floats
from hybridalloc.program import Program
from hybridalloc.report.picture.boxes import Canvas
from hybridalloc.report.picture.panels import steps
from hybridalloc.report.picture.scene import Emphasis, Piece, Scene
from hybridalloc.report.picture.style import FAINT, INK, RESERVED, SCRATCH, WRONG

_UNITS = ((2**33, 2**30, "GiB"), (2**20, 2**20, "MiB"), (2**10, 2**10, "KiB"))
"""From which amount on a unit is used, its bytes and its name."""
MOST_STEPS = 2000
"""How many steps a line has at most; a page has hardly more columns of dots."""


def draw_memory(
    axes: Axes, scene: Scene, pieces: list[Piece], top: int, emphasis: Emphasis
) -> None:
    """The panel of offsets.

    Args:
        axes: Where to draw.
        scene: The map.
        pieces: Its rectangles.
        top: The highest offset that there is to be room for.
        emphasis: Which rectangles stand out.
    """
    capacity = scene.problem.target.capacity
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
    own = [piece for piece in pieces if piece.allocation not in emphasis.faded]
    rest = [piece for piece in pieces if piece.allocation in emphasis.faded]
    canvas.draw(rest, faded=True)
    canvas.draw(own, outlined=emphasis.outlined)
    canvas.write_names(own)
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
        values, edges = steps(scene, scratch / scale, MOST_STEPS)
        axes.stairs(values, edges, fill=True, fc=SCRATCH, ec=SCRATCH, lw=0.3)


def _scratch(program: Program) -> Floats:
    """(T,): bytes from offset 0 that each instruction needs."""
    return np.array([float(x.scratch_bytes) for x in program.instructions])
