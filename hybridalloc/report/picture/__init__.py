"""Pictures of memory maps: time x offset, with occupancy, copies and times below.

What there is to see is in ``scene`` and ``panels``. Two back ends draw it: matplotlib
for print, in ``page``, and uPlot for pages in a browser, in ``web``. Offsets of static
allocation are drawn for print only, in ``arena``.
"""

from __future__ import annotations

from pathlib import Path

from hybridalloc.errors import UsageError
from hybridalloc.io.files import write_bytes
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.report.formats import WEB, require_format
from hybridalloc.report.picture.scene import Scene, XAxis
from hybridalloc.understanding.naming import find_buffer

__all__ = [
    "XAxis",
    "draw",
    "names_beside",
    "require_axis",
    "require_drawable",
    "require_picture",
]


def draw(
    problem: Problem,
    memory_map: MemoryMap,
    path: Path | str,
    *,
    beside: MemoryMap | None = None,
    labels: tuple[str, str] = ("", ""),
    x: XAxis | str = XAxis.INSTRUCTION,
    buffer: int | str | None = None,
) -> None:
    """Draw a memory map to a file: each allocation a rectangle of time x offset.

    Below are the bytes that are live, in fast memory and in the program as a whole, the
    work in the copy queues, the stalls, and where the time goes. A map that is not
    valid is drawn all the same, and the title says what is wrong with it. The same
    arguments give the same bytes.

    Args:
        problem: The program, the target and the cost model.
        memory_map: Any map whose offsets are given.
        path: The file, whose name ends in ``.html``, ``.png``, ``.svg`` or ``.pdf``. An
            HTML page can be zoomed and searched, and needs nothing but itself.
        beside: Another map, to be drawn beside the first: what both have alike is
            faded.
        labels: What the two are called, besides A and B.
        x: What goes to the right: the instructions, each as wide as any other, or the
            simulated time of one run without its stalls.
        buffer: The buffer to bring out, if any; as for ``find_buffer``.

    Raises:
        UsageError: The name ends otherwise, what draws pages is not there, there is no
            such axis or buffer, an allocation lacks its offset or its buffer, or times
            are not finite.
        InputError: The file cannot be written.
    """
    path = Path(path)
    require_picture(path)
    maps = [memory_map] if beside is None else [memory_map, beside]
    for drawn in maps:
        require_drawable(problem.program, drawn)
    chosen = None if buffer is None else find_buffer(problem.program, buffer)
    named = ("",) if beside is None else names_beside(labels)
    axis = require_axis(x)
    scenes = [
        Scene.of(problem, drawn, axis, label)
        for drawn, label in zip(maps, named, strict=True)
    ]
    write_bytes(path, _drawn(scenes, chosen, path.suffix.lower()))


def require_picture(path: Path) -> None:
    """Find out before any work whether a picture of this name can be drawn.

    Raises:
        UsageError: It ends in none of the formats, or what draws pages is not there.
    """
    require_format(path)
    if path.suffix.lower() == WEB:
        from hybridalloc.report.picture.web import require_uplot

        require_uplot()


def require_axis(x: str) -> XAxis:
    """The axis of this name.

    Raises:
        UsageError: There is none.
    """
    try:
        return XAxis(x)
    except ValueError:
        expected = " or ".join(repr(axis.value) for axis in XAxis)
        raise UsageError(f"x axis {x!r}: expected {expected}") from None


def names_beside(labels: tuple[str, str]) -> tuple[str, str]:
    """What two maps beside each other are called: A and B, and their labels.

    >>> names_beside(("XLA", ""))
    ('A: XLA', 'B')
    """
    one, other = (": ".join(filter(None, x)) for x in zip("AB", labels, strict=True))
    return one, other


def require_drawable(program: Program, memory_map: MemoryMap) -> None:
    """Refuse a map that has no place in a picture.

    Raises:
        UsageError: An allocation lacks its offset or its buffer.
    """
    for number, allocation in enumerate(memory_map.allocations):
        if allocation.buffer >= len(program.buffers):
            raise UsageError(
                f"allocation {number}: buffer index {allocation.buffer} is not in "
                f"[0, {len(program.buffers)})"
            )
        if allocation.offset is None:
            raise UsageError(
                f"allocation {number}, of buffer "
                f"{program.buffers[allocation.buffer].name}, has no offset (expected "
                f"one for each: a map is drawn once they are chosen)"
            )


def _drawn(scenes: list[Scene], chosen: int | None, suffix: str) -> bytes:
    if suffix == WEB:
        from hybridalloc.report.picture.web import web_page

        return web_page(scenes, chosen).encode()
    from hybridalloc.report.picture.page import page  # loads matplotlib
    from hybridalloc.report.picture.printed import printed

    return printed(lambda: page(scenes, chosen), suffix)
