"""Rectangles on the panel of offsets, and the names on those that are large enough."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from rich.cells import cell_len

from hybridalloc.arrays import Floats
from hybridalloc.memory_map import Origin
from hybridalloc.report.picture.fonts import drawable
from hybridalloc.report.picture.scene import Phase, Piece, Scene
from hybridalloc.report.picture.style import (
    COLOURS,
    HATCHES,
    INK,
    NAME_POINTS,
)
from hybridalloc.report.words import printable

MOST_VECTORS = 3000
"""With more rectangles than this, vector formats hold them as an image."""
MOST_NAMES = 200
LEAST_INCHES = 0.03
"""Rectangles with a shorter side have neither white outlines, behind which they would
be gone, nor hatches."""
LETTER = 0.62 / 72
"""The width of a letter, rather more than the mean, in inches for a size of 1."""
LINE = 1.2 / 72
FADED = 0.2
"""How opaque everything but a chosen buffer is."""


class _Look(NamedTuple):
    """What rectangles that are drawn together have in common."""

    phase: Phase
    origin: Origin
    large: bool

    @property
    def face(self) -> str:
        colour = COLOURS[self.origin]
        return colour.full if self.phase is Phase.RESIDENT else colour.tint

    @property
    def edge(self) -> str:
        plain = self.large and self.phase is Phase.RESIDENT
        return "white" if plain else COLOURS[self.origin].full


class Canvas:
    """Puts rectangles where they belong, and knows how large they are on paper."""

    def __init__(self, axes: Axes, scene: Scene, scale: int) -> None:
        """Prepare to draw.

        Args:
            axes: The panel; its limits are set.
            scene: The map.
            scale: The unit of offsets, in bytes.
        """
        self._axes, self._scene, self._scale = axes, scene, scale
        box, dots = axes.get_window_extent(), axes.figure.dpi
        self._inches = np.array(
            [
                box.width / dots / scene.width,
                box.height / dots / axes.get_ylim()[1],
            ]
        )

    def draw(
        self, pieces: list[Piece], *, faded: bool = False, outlined: bool = False
    ) -> None:
        """Draw rectangles, those that look alike at a time, small ones below."""
        looks: dict[_Look, list[Floats]] = defaultdict(list)
        for piece, corners in zip(pieces, self._corners(pieces), strict=True):
            sides = (corners[2] - corners[0]) * self._inches
            large = bool((sides > LEAST_INCHES).all())
            looks[_Look(piece.phase, piece.origin, large)].append(corners)
        for look in sorted(looks):
            boxes = PolyCollection(
                looks[look],
                facecolors=look.face,
                edgecolors=INK if outlined else look.edge,
                linewidths=1.0 if outlined else 0.35,
                hatch=HATCHES[look.phase] if look.large else None,
                alpha=FADED if faded else None,
                zorder=3 if outlined else 2,
                rasterized=len(pieces) > MOST_VECTORS,
            )
            self._axes.add_collection(boxes, autolim=False)

    def write_names(self, pieces: list[Piece]) -> None:
        """Write the names of buffers on what serves accesses, where there is room."""
        resident = [piece for piece in pieces if piece.phase is Phase.RESIDENT]
        if not resident:
            return
        corners = self._corners(resident)
        sides = (corners[:, 2] - corners[:, 0]) * self._inches
        middles = (corners[:, 2] + corners[:, 0]) / 2
        largest = np.argsort(-sides.prod(axis=1), kind="stable")[:MOST_NAMES]
        for i in largest.tolist():
            buffer = self._scene.problem.program.buffers[resident[i].buffer]
            name = drawable(printable(buffer.name))
            fit = _fit(name, *sides[i].tolist())
            if fit is not None:
                self._axes.text(
                    float(middles[i, 0]),
                    float(middles[i, 1]),
                    name,
                    size=fit[0],
                    color=COLOURS[resident[i].origin].ink,
                    rotation=fit[1],
                    ha="center",
                    va="center",
                    zorder=4,
                    clip_on=True,
                )

    def _corners(self, pieces: list[Piece]) -> Floats:
        """(pieces, 4, 2): corners on the axes, from the lower left, clockwise."""
        at, scale = self._scene.at, self._scale
        sides = np.array(
            [(at(x.start), at(x.end), x.low / scale, x.high / scale) for x in pieces]
        ).reshape(-1, 4)
        return sides[:, [[0, 2], [0, 3], [1, 3], [1, 2]]]


def _fit(name: str, width: float, height: float) -> tuple[float, int] | None:
    """The size and turn with which a name fits on so many inches, if it does."""
    for points in NAME_POINTS:
        length, line = LETTER * points * (cell_len(name) + 1), LINE * points
        if width >= length and height >= line:
            return points, 0
        if height >= length and width >= line:
            return points, 90
    return None
