"""A picture of a placement: time x offset, with the bytes that are live below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from rich.cells import cell_len

from hybridalloc.io.files import write_bytes
from hybridalloc.report.formats import PRINTED, require_format
from hybridalloc.report.picture.boxes import MOST_VECTORS
from hybridalloc.report.picture.fonts import drawable
from hybridalloc.report.picture.memory import byte_scale
from hybridalloc.report.picture.panels import Role
from hybridalloc.report.picture.printed import printed
from hybridalloc.report.picture.style import INK, PAGE_INCHES, ROLES, WRONG
from hybridalloc.report.picture.words import shortened
from hybridalloc.report.units import size_text
from hybridalloc.report.words import plural
from hybridalloc.static.checker import check_offsets
from hybridalloc.static.load import live_bytes, peak_of
from hybridalloc.static.problem import StaticProblem

FREE, FIXED = "#0072B2", "#E69F00"
"""Of buffers whose offsets were free to choose, and of fixed ones."""
MOST_NAMES = 100
NAME_POINTS = 6.0
"""The size of names, which stand where they fit."""
LETTER = 0.62
"""The width of a letter, rather more than the mean, in parts of its size."""


def draw_arena(problem: StaticProblem, offsets: Sequence[int], path: Path) -> None:
    """Draw offsets to a file: each buffer a rectangle, or several with gaps.

    Offsets that break a rule are drawn all the same, and the title says which. The same
    arguments give the same bytes.

    Args:
        problem: What is placed.
        offsets: For each buffer, in bytes.
        path: The file, whose name ends in ``.png``, ``.svg`` or ``.pdf``.

    Raises:
        UsageError: The name ends otherwise.
        InputError: The file cannot be written.
    """
    require_format(path, PRINTED)
    drawn = printed(lambda: _page(problem, offsets), path.suffix.lower())
    write_bytes(path, drawn)


def _page(problem: StaticProblem, offsets: Sequence[int]) -> Figure:
    figure = Figure(figsize=PAGE_INCHES, layout="constrained")
    memory, load = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    ends = [x + y.size for x, y in zip(offsets, problem.buffers, strict=True)]
    peak, capacity = max(ends, default=0), problem.capacity
    scale, unit = byte_scale(max(peak, capacity or 0))
    start = min((x.start for x in problem.buffers), default=0)
    end = max((x.end for x in problem.buffers), default=0)
    load.set_xlim(start, max(end, start + 1))
    load.set_xlabel("instant")
    load.xaxis.set_major_locator(MaxNLocator(9, integer=True))
    load.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    for axes, what in ((memory, "offset"), (load, "live")):
        axes.set_ylabel(f"{what}, {unit}")
        axes.set_ylim(0, 1.02 * max(1, peak, capacity or 0) / scale)
        if capacity is not None:
            axes.axhline(capacity / scale, color=INK, lw=0.8)
    _draw_buffers(memory, problem, offsets, scale)
    points, sizes = live_bytes(problem.buffers)
    if len(points):
        live = ROLES[Role.LIVE]
        load.stairs(sizes[:-1] / scale, points, fill=True, fc=live, ec=live)
    memory.set_title(_title(problem, peak), loc="left", size=10)
    for violation in check_offsets(problem, offsets)[:1]:
        wrong = shortened(f"NOT VALID: {violation.message}")
        figure.suptitle(wrong, color=WRONG, size=8)
    return figure


def _title(problem: StaticProblem, peak: int) -> str:
    facts = (
        plural(len(problem), "buffer", "buffers"),
        f"capacity {size_text(problem.capacity)}",
        f"peak {size_text(peak)}",
        f"most live {size_text(peak_of(problem.buffers).bytes)}",
    )
    return f"{drawable(shortened(problem.name, 60))};  {',  '.join(facts)}"


def _draw_buffers(
    axes: Axes, problem: StaticProblem, offsets: Sequence[int], scale: int
) -> None:
    """The rectangles of all buffers, and the names of the largest that hold them."""
    boxes, colours, names = [], [], []
    for buffer, offset in zip(problem.buffers, offsets, strict=True):
        for part in buffer.rectangles:
            low, high = (offset + part.low) / scale, (offset + part.high) / scale
            boxes.append((part.start, low, part.end, high))
            colours.append(FREE if buffer.offset is None else FIXED)
            names.append(buffer.name)
    corners = np.array(boxes, np.float64).reshape(-1, 4)
    axes.add_collection(
        PolyCollection(
            list(corners[:, [[0, 1], [0, 3], [2, 3], [2, 1]]]),
            facecolors=colours,
            edgecolors="white",
            linewidths=0.3,
            rasterized=len(boxes) > MOST_VECTORS,
        ),
        autolim=False,
    )
    sides = corners[:, 2:] - corners[:, :2]
    for i in np.argsort(-sides.prod(axis=1), kind="stable")[:MOST_NAMES].tolist():
        _write_name(axes, drawable(shortened(names[i], 30)), *corners[i].tolist())


def _write_name(
    axes: Axes, name: str, left: float, low: float, right: float, high: float
) -> None:
    """A name on a rectangle, if it fits."""
    (first, last), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width = 72 * 0.9 * PAGE_INCHES[0] * (right - left) / (last - first)
    height = 72 * 0.7 * PAGE_INCHES[1] * (high - low) / (top - bottom)
    if width > LETTER * NAME_POINTS * cell_len(name) and height > 1.2 * NAME_POINTS:
        middle = (left + right) / 2, (low + high) / 2
        axes.text(
            *middle, name, size=NAME_POINTS, color="white", ha="center", va="center"
        )
