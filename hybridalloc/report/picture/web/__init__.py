"""Pages for a browser: one file that needs nothing but itself.

uPlot draws panels and axes: it is MIT-licensed, and fetched when the package is built
(``hatch_build.py``). The scripts in ``assets`` draw the rectangles, and do what people
do with a page: zoom, search, ask.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib.resources import files

from hybridalloc.errors import UsageError
from hybridalloc.report.picture.scene import Scene
from hybridalloc.report.picture.web.content import content
from hybridalloc.report.words import printable

SCRIPTS = (
    *("format.js", "view.js", "shapes.js", "memory.js", "panels.js", "describe.js"),
    *("search.js", "controls.js", "main.js"),
)
"""In the order in which they are read."""
UPLOT = ("LICENSE", "uPlot.iife.min.js", "uPlot.min.css")
_IN_SCRIPT = str.maketrans({x: f"\\u{ord(x):04x}" for x in "<>&"})


def web_page(scenes: Sequence[Scene], chosen: int | None) -> str:
    """The whole page; uPlot is there.

    Args:
        scenes: One map, or two side by side.
        chosen: The buffer to bring out, if any.
    """
    data = json.dumps(content(scenes, chosen), separators=(",", ":"), allow_nan=False)
    own = "\n".join(_read(f"assets/{name}") for name in SCRIPTS)
    title = f"{printable(scenes[0].problem.program.name)} - memory map"
    parts = {
        "title": html.escape(title.encode(errors="replace").decode()),
        "style": _read("uplot/uPlot.min.css") + _read("assets/page.css"),
        "script": f'{_uplot()}\n(() => {{\n"use strict";\n{own}\n}})();',
        "data": data.translate(_IN_SCRIPT),
    }
    text = _read("assets/page.html")
    before, *pieces = text.split("{{")
    filled = [before]
    for piece in pieces:
        name, _, after = piece.partition("}}")
        filled += [parts[name], after]
    return "".join(filled)


def require_uplot() -> None:
    """Find out that what draws pages is there.

    Raises:
        UsageError: It is not, as in a checkout that was never installed.
    """
    if not all((files(__package__) / "uplot" / name).is_file() for name in UPLOT):
        raise UsageError(
            "pages (.html) need uPlot, which is fetched when the package is built: "
            "pip install -e . in the checkout, with a network; or draw .png, .svg or "
            ".pdf"
        )


def _uplot() -> str:
    """UPlot under its notice of copyright, without the address of its home."""
    code = _read("uplot/uPlot.iife.min.js").partition("\n")[2]
    notice = _read("uplot/LICENSE").replace("*/", "")
    return f"/*! uPlot\n{notice}*/\n{code}"


def _read(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
