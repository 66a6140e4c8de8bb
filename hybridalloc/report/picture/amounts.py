"""The panels below the rectangles, drawn one below the other."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from hybridalloc.arrays import Floats
from hybridalloc.report.picture.memory import MOST_STEPS, byte_scale, tick_step
from hybridalloc.report.picture.panels import Line, Panel, Unit, steps
from hybridalloc.report.picture.scene import Scene
from hybridalloc.report.picture.style import INK, ROLES

MOST_BARS = 500
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def draw_panel(axes: Axes, scene: Scene, panel: Panel, top: float) -> None:
    """Draw the lines of a panel, and its limit.

    Args:
        axes: Where to draw.
        scene: The map.
        panel: What to draw.
        top: The highest amount that there is to be room for.
    """
    scale, unit = _scale(panel.unit, top) if top else (1.0, "")
    for line in panel.lines:
        _draw_line(axes, scene, panel, line, scale)
    if panel.limit is not None:
        dashes = (0, (4, 2))
        axes.axhline(
            panel.limit / scale, color=INK, lw=0.7, ls=dashes, label="capacity"
        )
    axes.set_ylim(0, 1.05 * top / scale or 1)
    axes.set_ylabel(unit)
    if not top:
        axes.set_yticks([0])
    elif panel.unit is Unit.BYTES:
        axes.yaxis.set_major_locator(MultipleLocator(4 * tick_step(top / scale)))
    else:
        axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.set_title(panel.title, loc="left", size=7, pad=2.5)
    if any(line.label for line in panel.lines) or panel.limit is not None:
        _add_key(axes)


def panel_top(scene: Scene, panel: Panel) -> float:
    """The highest amount that is drawn of a panel, or its limit."""
    drawn = [_steps(scene, panel, line)[0].max() for line in panel.lines]
    return float(max(panel.limit or 0.0, *drawn))


def show_seconds(axis: Axis, most: float) -> str:
    """Show times on an axis in the unit that suits amounts up to this one: its name."""
    factor, unit = _second_scale(most)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:g}"))
    return unit


def _second_scale(most: float) -> tuple[float, str]:
    return next((x for x in _SECONDS if most >= x[0]), _SECONDS[-1])


def _scale(unit: Unit, top: float) -> tuple[float, str]:
    """What one of the axis's units comes to, and its name."""
    if unit is Unit.BYTES:
        return byte_scale(top)
    return _second_scale(top) if unit is Unit.SECONDS else (1.0, "")


def _draw_line(
    axes: Axes, scene: Scene, panel: Panel, line: Line, scale: float
) -> None:
    values, edges = _steps(scene, panel, line)
    colour = ROLES[line.role]
    axes.stairs(
        values / scale,
        edges,
        fill=line.filled,
        fc=colour,
        ec=colour,
        lw=0.2 if line.filled else 0.7,
        label=line.label or None,
    )


def _steps(scene: Scene, panel: Panel, line: Line) -> tuple[Floats, Floats]:
    most = MOST_BARS if panel.spread else MOST_STEPS
    return steps(scene, line.amounts, most, spread=panel.spread)


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
