"""Loops: a strip with a row for each depth, and a faint band below each loop."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from hybridalloc.loops import Loops
from hybridalloc.program import Program
from hybridalloc.report.picture.scene import Scene
from hybridalloc.report.picture.style import FAINT, INK, LOOP

LEAST_LABEL = 0.02
"""Loops narrower than this part of the axis are not labelled."""
MOST_OUTLINES = 100


def loop_depths(program: Program) -> list[int]:
    """How many loops are around each loop."""
    loops = Loops(program)
    return [len(loops.around_body(loop)) - 1 for loop in program.loops]


def draw_loops(axes: Axes, scene: Scene, depths: Sequence[int]) -> None:
    """A bar for each loop, with its trip count."""
    bars = []
    for loop, depth in zip(scene.problem.program.loops, depths, strict=True):
        left, right = scene.at(loop.start), scene.at(loop.end)
        bars.append(_box(left, right, depth + 0.08, depth + 0.92))
        if right - left >= LEAST_LABEL * scene.width:
            axes.text(
                (left + right) / 2,
                depth + 0.5,
                f"{loop.trip_count:,} times",
                size=6.5,
                color=INK,
                ha="center",
                va="center_baseline",
                clip_on=True,
            )
    axes.add_collection(
        PolyCollection(
            bars,
            facecolors="#DDDDDD",
            edgecolors=FAINT,
            linewidths=0.4 if len(bars) <= MOST_OUTLINES else 0,
        ),
        autolim=False,
    )
    axes.set_ylim(max(depths) + 1, 0)
    axes.set_yticks([])
    axes.text(-0.006, 0.5, "loops", transform=axes.transAxes, ha="right", va="center")
    axes.spines[:].set_visible(False)


def draw_bands(panels: Sequence[Axes], scene: Scene) -> None:
    """A faint band behind each loop, darker where loops are nested."""
    loops = scene.problem.program.loops
    bands = [_box(scene.at(x.start), scene.at(x.end), 0, 1) for x in loops]
    for axes in panels if bands else ():
        axes.add_collection(
            PolyCollection(
                bands,
                facecolors=LOOP,
                edgecolors="none",
                alpha=0.05,
                transform=axes.get_xaxis_transform(),
                zorder=0,
            ),
            autolim=False,
        )


def _box(
    left: float, right: float, low: float, high: float
) -> list[tuple[float, float]]:
    return [(left, low), (right, low), (right, high), (left, high)]
