"""The page: title, legend and panels, one above the other on one axis."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from hybridalloc.report.picture.amounts import (
    draw_occupancy,
    draw_pressure,
    draw_times,
    show_seconds,
)
from hybridalloc.report.picture.loops import draw_bands, draw_loops, loop_depths
from hybridalloc.report.picture.memory import draw_memory
from hybridalloc.report.picture.scene import Phase, Piece, Scene, XAxis, rectangles
from hybridalloc.report.picture.style import (
    COLOURS,
    FAINT,
    HATCHES,
    INK,
    PAGE_INCHES,
    RESERVED,
    SCRATCH,
    WRONG,
)
from hybridalloc.report.picture.words import (
    facts,
    headline,
    remark,
    shortened,
)

LEFT, RIGHT, BOTTOM, TOP = 0.065, 0.975, 0.06, 0.875
REMARK = 0.022
"""How much higher the panels reach where there is no remark."""
PANELS = (5.0, 0.85, 0.7, 0.85)
LOOP_ROW = 0.2
"""Heights, in parts of the same unit."""


def page(scene: Scene, chosen: int | None) -> Figure:
    """The whole picture.

    Args:
        scene: What to show.
        chosen: The buffer to bring out, if any.
    """
    figure = Figure(figsize=PAGE_INCHES)
    remarks = remark(scene, chosen)
    top = TOP if remarks else TOP + REMARK
    depths = loop_depths(scene.problem.program)
    rows = [LOOP_ROW * (max(depths) + 1)] if depths else []
    *strip, memory, occupancy, pressure, times = _panels(figure, [*rows, *PANELS], top)
    for loops in strip:
        draw_loops(loops, scene, depths)
    pieces = rectangles(scene)
    draw_memory(memory, scene, pieces, chosen)
    draw_occupancy(occupancy, scene)
    draw_pressure(pressure, scene)
    draw_times(times, scene)
    draw_bands((memory, occupancy, pressure, times), scene)
    times.set_xlim(scene.left, scene.left + scene.width)
    skipped = f" (the first {scene.first:,} take no time)" if scene.first else ""
    if scene.axis is XAxis.TIME:
        unit = show_seconds(times.xaxis, scene.width)
        times.set_xlabel(f"simulated time of one run without its stalls, {unit}")
    else:
        times.xaxis.set_major_locator(MaxNLocator(9, integer=True))
        times.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        times.set_xlabel(f"instruction{skipped}")
    figure.align_ylabels([memory, occupancy, pressure, times])
    _write_title(figure, scene, remarks)
    _write_legend(figure, scene, pieces, top)
    return figure


def _panels(figure: Figure, heights: list[float], top: float) -> list[Axes]:
    grid = figure.add_gridspec(
        len(heights),
        1,
        height_ratios=heights,
        hspace=0.22,
        left=LEFT,
        right=RIGHT,
        bottom=BOTTOM,
        top=top,
    )
    panels: list[Axes] = []
    for row in range(len(heights)):
        shared = panels[0] if panels else None
        panels.append(figure.add_subplot(grid[row, 0], sharex=shared))
    for panel in panels[:-1]:
        panel.tick_params(axis="x", length=0, labelbottom=False)
    return panels


def _write_title(figure: Figure, scene: Scene, remarks: str) -> None:
    """Three lines: the program and its time, the setting, and what stands out."""
    name = shortened(scene.problem.program.name, 60)
    figure.text(LEFT, 0.965, name, size=12, weight="bold", color=INK)
    figure.text(RIGHT, 0.965, headline(scene), size=10.5, color=INK, ha="right")
    figure.text(LEFT, 0.94, "   ·   ".join(facts(scene)), size=8, color=FAINT)
    colour = WRONG if scene.violations else INK
    figure.text(LEFT, 0.917, remarks, size=7.5, color=colour)


def _write_legend(
    figure: Figure, scene: Scene, pieces: list[Piece], top: float
) -> None:
    """What there is in this picture, and no more."""
    handles = [*_colours(pieces), *_unusable(scene)]
    figure.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(RIGHT, top),
        ncols=max(1, len(handles)),
        frameon=False,
        fontsize=7.5,
        handlelength=1.4,
        columnspacing=1.2,
        borderaxespad=0,
        borderpad=0.2,
    )


def _colours(pieces: list[Piece]) -> list[Patch]:
    origins = [x for x in COLOURS if any(x is piece.origin for piece in pieces)]
    handles = [
        Patch(facecolor=COLOURS[x].full, label=COLOURS[x].label) for x in origins
    ]
    words = {Phase.ARRIVING: "being fetched", Phase.LEAVING: "being evicted"}
    for phase, word in words.items():
        copied = {piece.origin for piece in pieces if piece.phase is phase}
        for origin in [x for x in origins if x in copied][:1]:
            look = COLOURS[origin]
            handles.append(
                Patch(fc=look.tint, ec=look.full, hatch=HATCHES[phase], lw=0.5)
            )
            handles[-1].set_label(word)
    return handles


def _unusable(scene: Scene) -> list[Patch]:
    handles = []
    if any(x.scratch_bytes for x in scene.problem.program.instructions):
        handles.append(Patch(fc=SCRATCH, label="scratch"))
    if scene.problem.target.fast.reserved:
        handles.append(Patch(fc=RESERVED, ec="white", hatch="xxx", label="reserved"))
    return handles
