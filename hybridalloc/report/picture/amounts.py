"""The panels below: bytes held and live, and where the time goes."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from hybridalloc.arrays import Floats, Ints
from hybridalloc.liveness import live_bytes
from hybridalloc.packing.occupancy import held_bytes
from hybridalloc.report.picture.memory import byte_scale, tick_step
from hybridalloc.report.picture.scene import (
    Scene,
    XAxis,
    cumulated,
    steps,
)
from hybridalloc.report.picture.style import HELD, INK, LIVE, SAVED, SPENT
from hybridalloc.report.units import size_text

MOST_BARS = 500
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def draw_occupancy(axes: Axes, scene: Scene) -> None:
    """The bytes of fast memory that allocations hold, against the capacity."""
    held = held_bytes(scene.problem.program, scene.memory_map)
    title = f"held by allocations: at most {size_text(int(held.max()))} at a time"
    _draw_bytes(axes, scene, held, HELD, title)


def draw_pressure(axes: Axes, scene: Scene) -> None:
    """The bytes that are live in the program, against the capacity."""
    live = live_bytes(scene.problem.program)
    title = f"live, wherever: at most {size_text(int(live.max()))} at a time"
    _draw_bytes(axes, scene, live, LIVE, title)


def draw_times(axes: Axes, scene: Scene) -> None:
    """Where the time goes, under the map and with everything in slow memory."""
    edges = _edges(scene)
    slow = _rates(scene, edges, scene.all_slow_s)
    now = _rates(scene, edges, scene.now_s)
    label = "all in slow memory"
    axes.stairs(slow, edges, fill=True, fc=SAVED, ec=SAVED, lw=0.2, label=label)
    axes.stairs(now, edges, fill=True, fc=SPENT, ec=SPENT, lw=0.2, label="this map")
    most = max(float(slow.max()), float(now.max())) or 1.0
    axes.set_ylim(0, 1.05 * most)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    if scene.axis is XAxis.TIME:
        _write_title(axes, "time, in parts of this map's")
    else:
        _write_title(axes, "time of an instruction, in all its runs")
        axes.set_ylabel(show_seconds(axes.yaxis, most))
    _add_key(axes)


def show_seconds(axis: Axis, most: float) -> str:
    """Show times on an axis in the unit that suits amounts up to this one: its name."""
    factor, unit = next((x for x in _SECONDS if most >= x[0]), _SECONDS[-1])
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:g}"))
    return unit


def _draw_bytes(axes: Axes, scene: Scene, size: Ints, colour: str, title: str) -> None:
    capacity = scene.problem.target.capacity
    most = max(capacity, int(size.max()))
    scale, unit = byte_scale(most)
    values, edges = steps(scene, size / scale)
    axes.stairs(values, edges, fill=True, fc=colour, ec=colour, lw=0.2)
    dashes = (0, (4, 2))
    axes.axhline(capacity / scale, color=INK, lw=0.7, ls=dashes, label="capacity")
    axes.set_ylim(0, 1.05 * most / scale)
    axes.yaxis.set_major_locator(MultipleLocator(2 * tick_step(most / scale)))
    axes.set_ylabel(unit)
    _write_title(axes, title)
    _add_key(axes)


def _edges(scene: Scene) -> Floats:
    """(bars+1,): where bars begin and end: at every point if there are few."""
    if scene.axis is XAxis.INSTRUCTION and len(scene.x) - scene.first <= MOST_BARS:
        return scene.x[scene.first :]
    return np.linspace(scene.left, scene.left + scene.width, MOST_BARS + 1)


def _rates(scene: Scene, edges: Floats, seconds: Floats) -> Floats:
    """(bars,): seconds for each unit of the axis, on average within each bar."""
    passed = np.interp(edges, scene.x, cumulated(seconds))
    return np.diff(passed) / np.diff(edges)


def _write_title(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", size=7, pad=2.5)


def _add_key(axes: Axes) -> None:
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.01),
        ncols=3,
        fontsize=7,
        frameon=False,
        borderaxespad=0,
        borderpad=0.2,
        handlelength=1.4,
        handleheight=0.6,
        columnspacing=1.2,
    )
