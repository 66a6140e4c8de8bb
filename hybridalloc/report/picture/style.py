"""Colours and sizes of a picture.

The hues are those of Okabe and Ito, which people with any common kind of colour vision
tell apart; they differ in lightness too, for print without colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hybridalloc.memory_map import Origin
from hybridalloc.report.picture.panels import Role
from hybridalloc.report.picture.scene import Phase

STYLE: Any = {  # matplotlib's types know each name by itself
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.55,
    "pdf.fonttype": 42,
    "svg.hashsalt": "hybridalloc",
    "text.parse_math": False,  # names may hold dollar signs
}

DOTS_PER_INCH = 200
PAGE_INCHES = (10.0, 8.0)
NAME_POINTS = (6.0, 4.5)
"""The size of the names on rectangles, and of those that do not fit."""

INK = "#222222"
FAINT = "#777777"
WRONG = "#B00020"
LOOP = "#000000"
RESERVED = "#C9C9C9"
SCRATCH = "#9A9A9A"
ROLES: Mapping[Role, str] = {
    Role.HELD: "#5B8DAE",
    Role.LIVE: "#A9B4BE",
    Role.FETCHES: "#E6B450",
    Role.EVICTIONS: "#0072B2",
    Role.STALLS: "#B00020",
    Role.SLOW: "#C9D3DF",
    Role.NOW: "#44546A",
    Role.COMPUTE: "#D55E00",
    Role.LOST: "#B00020",
}
"""The colours of lines."""


@dataclass(frozen=True, slots=True)
class Colour:
    """How allocations of one origin look."""

    label: str
    full: str
    tint: str
    """While a copy is under way."""
    ink: str
    """Of names on top of it."""


COLOURS: Mapping[Origin, Colour] = {
    Origin.PRODUCED: Colour("produced", "#0072B2", "#BBDCEF", "#FFFFFF"),
    Origin.PREFETCHED: Colour("prefetched", "#E69F00", "#FBE5B5", "#000000"),
    Origin.CROSS_PROGRAM: Colour(
        "cross-program prefetch", "#CC79A7", "#F3DDE9", "#000000"
    ),
}

HATCHES: Mapping[Phase, str | None] = {
    Phase.ARRIVING: "/////",
    Phase.RESIDENT: None,
    Phase.LEAVING: "\\\\\\\\\\",
}
"""Prefetches lean to the right, evictions to the left."""
