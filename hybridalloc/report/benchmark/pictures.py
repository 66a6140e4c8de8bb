"""The pictures of a benchmark, as SVG that is legible on light and dark pages."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from hybridalloc.benchmarking.measurements import known
from hybridalloc.benchmarking.quality import quality
from hybridalloc.report.benchmark.contents import SectionContents

INK = "#808080"
"""Contrasts with white and with black alike."""
HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8F8F2E")
"""Mostly those of Okabe and Ito; neither very light nor very dark."""
DASHES = ("-", "--", ":", "-.")
STYLE: Any = {  # matplotlib's types know each name by itself
    "font.family": "DejaVu Sans",  # comes with matplotlib: alike everywhere
    "font.size": 9,
    "svg.hashsalt": "hybridalloc",
    "svg.fonttype": "path",
    "text.parse_math": False,  # names may hold dollar signs
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
}
INCHES = (7.5, 3.6)
FIRST_S = 0.1
"""Where the axis of seconds begins."""
MOMENTS = 60
MARGIN = 0.02
"""Above and below the ends of curves, on the axis of speed-ups."""
LONGEST_LABEL = 36


def pictures(contents: SectionContents) -> dict[str, bytes]:
    """Quality over time and sorted speed-ups, as SVG by the name of the file.

    The same contents give the same bytes.
    """
    drawn = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever style the user has set
        matplotlib.rcParams.update(STYLE)
        matplotlib.rcParams["axes.prop_cycle"] = cycler(linestyle=DASHES) * cycler(
            color=HUES
        )
        if contents.conditions.time_limit_s > FIRST_S:
            drawn["quality-over-time"] = _drawn(_quality, contents)
        drawn["sorted-speed-ups"] = _drawn(_sorted, contents)
    return {f"{what}-{contents.name}.svg": data for what, data in drawn.items()}


def _drawn(
    draw: Callable[[Axes, SectionContents], None], contents: SectionContents
) -> bytes:
    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.add_subplot()
    axes.grid(color=INK, alpha=0.25, linewidth=0.6)
    axes.axhline(1.0, color=INK, linewidth=0.8)
    draw(axes, contents)
    at = contents.conditions
    axes.set_ylabel(f"times faster than {contents.section.reference}")
    axes.set_title(
        f"simulated: {at.cost_model}, {at.target}; {at.time_limit_s:g} s", fontsize=9
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    return stream.getvalue()


def _label(strategy: str) -> str:
    if len(strategy) <= LONGEST_LABEL:
        return strategy
    return f"{strategy[: LONGEST_LABEL - 1]}…"


def _quality(axes: Axes, contents: SectionContents) -> None:
    limit = contents.conditions.time_limit_s
    moments = np.geomspace(FIRST_S, limit, MOMENTS).tolist()
    moments[-1] = limit  # to the last digit
    curves = [x for x in quality(contents.section, moments) if x.points]
    for curve in curves:
        seconds, means = zip(*curve.points, strict=True)
        axes.step(seconds, means, where="post", label=_label(curve.strategy))
    if curves:  # what matters is where they end, not where they come from
        ends = [1.0, *(x.points[-1][1] for x in curves)]
        axes.set_ylim(min(ends) - MARGIN, max(ends) + MARGIN)
    axes.set_xscale("log")
    axes.set_xlim(FIRST_S, limit)
    ticks = [x for x in (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000) if x <= limit]
    axes.set_xticks([*ticks, limit] if limit / ticks[-1] > 1.5 else ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("seconds of search")


def _sorted(axes: Axes, contents: SectionContents) -> None:
    """Each strategy's speed-ups from the least to the largest."""
    for strategy in contents.section.strategies:
        measured = contents.section.of(strategy)
        speedups = sorted(known(map(contents.section.speedup, measured)))
        shares = 100 * (np.arange(len(speedups)) + 0.5) / max(1, len(speedups))
        marker = "." if len(speedups) < MOMENTS else None
        axes.plot(shares, speedups, label=_label(strategy), marker=marker)
    axes.set_xlim(0, 100)
    axes.set_xlabel("programs, from the least speed-up to the largest, %")
