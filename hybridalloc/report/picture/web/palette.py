"""The colours of a page, by light and by dark."""

from __future__ import annotations

from typing import Any

from hybridalloc.report.picture.panels import Role
from hybridalloc.report.picture.style import COLOURS, INK, RESERVED, ROLES, SCRATCH

DARK_ROLES = {
    **ROLES,
    Role.LIVE: "#5D6873",
    Role.STALLS: "#FF6B7D",
    Role.SLOW: "#4A5666",
    Role.NOW: "#A9BDD6",
    Role.COMPUTE: "#FF8A3D",
    Role.EVICTIONS: "#4DA8DC",
    Role.LOST: "#FF6B7D",
}
DARK_FULL = ("#2F8FCB", "#E0A21B", "#C77BA6")
DARK_TINT = ("#1E4460", "#5C4716", "#573B4B")
DARK_INK = ("#FFFFFF", "#000000", "#000000")

PALETTES: dict[str, dict[str, Any]] = {
    "light": {
        "paper": "#FFFFFF",
        "ink": INK,
        "faint": "#696969",
        "grid": "#ECECEC",
        "loop": "rgba(0, 0, 0, 0.05)",
        "bar": "#DDDDDD",
        "reserved": RESERVED,
        "scratch": SCRATCH,
        "full": [x.full for x in COLOURS.values()],
        "tint": [x.tint for x in COLOURS.values()],
        "name": [x.ink for x in COLOURS.values()],
        "roles": {role.value: colour for role, colour in ROLES.items()},
    },
    "dark": {
        "paper": "#16181D",
        "ink": "#E6E6E6",
        "faint": "#9AA0A8",
        "grid": "#262A31",
        "loop": "rgba(255, 255, 255, 0.06)",
        "bar": "#3A3F48",
        "reserved": "#4A4A4A",
        "scratch": "#6E6E6E",
        "full": list(DARK_FULL),
        "tint": list(DARK_TINT),
        "name": list(DARK_INK),
        "roles": {role.value: colour for role, colour in DARK_ROLES.items()},
    },
}
"""Colours that follow the order of ``Origin`` are lists."""
