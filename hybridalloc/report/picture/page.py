"""The page: title, legend and panels, one above the other on one axis."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from hybridalloc.report.picture.amounts import draw_panel, panel_top, show_seconds
from hybridalloc.report.picture.fonts import drawable
from hybridalloc.report.picture.loops import draw_bands, draw_loops, loop_depths
from hybridalloc.report.picture.memory import draw_memory
from hybridalloc.report.picture.panels import panels
from hybridalloc.report.picture.scene import (
    Emphasis,
    Phase,
    Piece,
    Scene,
    XAxis,
    other_of,
    rectangles,
)
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
    heading,
    headline,
    remark,
)

LEFT, RIGHT, BOTTOM, TOP = 0.065, 0.975, 0.055, 0.885
"""Of a map's column, which is as wide as ``PAGE_INCHES`` says."""
REMARK = 0.02
"""How much higher the panels reach where there is no remark."""
MEMORY = 5.0
PANEL = 0.62
LOOP_ROW = 0.2
"""Heights, in parts of the same unit."""


def page(scenes: Sequence[Scene], chosen: int | None) -> Figure:
    """The whole picture.

    Args:
        scenes: What to show: one map, or two side by side.
        chosen: The buffer to bring out, if any.
    """
    width, height = PAGE_INCHES
    figure = Figure(figsize=(width * len(scenes), height))
    columns = [_Column(figure, scenes, i, chosen) for i in range(len(scenes))]
    lifted = not any(column.remark for column in columns)
    tops = [max(x) for x in zip(*(c.panel_tops() for c in columns), strict=True)]
    top = max(column.top for column in columns)
    for column in columns:
        column.draw(top, tops, TOP + REMARK * lifted)
    return figure


class _Column:
    """One map, from its title to its last panel."""

    def __init__(
        self,
        figure: Figure,
        scenes: Sequence[Scene],
        index: int,
        chosen: int | None,
    ) -> None:
        self.figure, self.scene = figure, scenes[index]
        self.left, self.right = ((index + side) / len(scenes) for side in (LEFT, RIGHT))
        other = other_of(scenes, self.scene)
        self.panels = panels(self.scene, other)
        self.pieces = rectangles(self.scene)
        self.emphasis = Emphasis.of(self.scene, other, chosen)
        self.remark = remark(self.scene, chosen, other)
        capacity = self.scene.problem.target.capacity
        self.top = max([capacity, *(piece.high for piece in self.pieces)])

    def panel_tops(self) -> list[float]:
        """The highest amount in each panel."""
        return [panel_top(self.scene, panel) for panel in self.panels]

    def draw(self, top: int, panel_tops: Sequence[float], upper: float) -> None:
        """Draw all of it.

        Args:
            top: The highest offset that there is to be room for.
            panel_tops: The same for the amounts of each panel.
            upper: Where the panels end, in parts of the page.
        """
        scene = self.scene
        depths = loop_depths(scene.problem.program)
        rows = [LOOP_ROW * (max(depths) + 1)] if depths else []
        heights = [*rows, MEMORY, *[PANEL] * len(self.panels)]
        axes = self._axes(heights, upper)
        for strip in axes[: len(rows)]:
            draw_loops(strip, scene, depths)
        memory, *lower = axes[len(rows) :]
        draw_memory(memory, scene, self.pieces, top, self.emphasis)
        for below, panel, most in zip(lower, self.panels, panel_tops, strict=True):
            draw_panel(below, scene, panel, most)
        draw_bands((memory, *lower), scene)
        _label_axis(lower[-1], scene)
        self.figure.align_ylabels([memory, *lower])
        self._write_title()
        self._write_legend(upper)

    def _axes(self, heights: list[float], upper: float) -> list[Axes]:
        grid = self.figure.add_gridspec(
            len(heights),
            1,
            height_ratios=heights,
            hspace=0.3,
            left=self.left,
            right=self.right,
            bottom=BOTTOM,
            top=upper,
        )
        found: list[Axes] = []
        for row in range(len(heights)):
            shared = found[0] if found else None
            found.append(self.figure.add_subplot(grid[row, 0], sharex=shared))
        for axes in found[:-1]:
            axes.tick_params(axis="x", length=0, labelbottom=False)
        return found

    def _write_title(self) -> None:
        """Three lines: the program and its time, the setting, and what stands out."""
        scene, write = self.scene, self.figure.text
        title = drawable(heading(scene))
        write(self.left, 0.965, title, size=12, weight="bold", color=INK)
        write(self.right, 0.965, headline(scene), size=10.5, color=INK, ha="right")
        write(self.left, 0.942, "   ·   ".join(facts(scene)), size=8, color=FAINT)
        colour = WRONG if scene.violations else INK
        write(self.left, 0.922, drawable(self.remark), size=7.5, color=colour)

    def _write_legend(self, upper: float) -> None:
        """What there is in this picture, and no more."""
        handles = [*_colours(self.pieces), *_unusable(self.scene)]
        self.figure.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(self.right, upper),
            ncols=max(1, len(handles)),
            frameon=False,
            fontsize=7.5,
            handlelength=1.4,
            columnspacing=1.2,
            borderaxespad=0,
            borderpad=0.2,
        )


def _label_axis(lowest: Axes, scene: Scene) -> None:
    lowest.set_xlim(scene.left, scene.left + scene.width)
    skipped = f" (the first {scene.first:,} take no time)" if scene.first else ""
    if scene.axis is XAxis.TIME:
        unit = show_seconds(lowest.xaxis, scene.width)
        lowest.set_xlabel(f"simulated time of one run without its stalls, {unit}")
    else:
        lowest.xaxis.set_major_locator(MaxNLocator(9, integer=True))
        lowest.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        lowest.set_xlabel(f"instruction{skipped}")


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
