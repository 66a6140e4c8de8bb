"""Pictures of memory maps: time x offset, with occupancy and times below.

The only part of the package that loads matplotlib; it draws without a display.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from hybridalloc.errors import UsageError
from hybridalloc.io.files import write_bytes
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.report.picture.page import page
from hybridalloc.report.picture.scene import Scene, XAxis
from hybridalloc.report.picture.style import DOTS_PER_INCH, STYLE
from hybridalloc.understanding.naming import find_buffer

__all__ = ["FORMATS", "XAxis", "draw", "require_format"]

# No dates and versions, so that the same map gives the same bytes.
FORMATS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""What a picture's name may end in, and what is left out of its metadata."""


def draw(
    problem: Problem,
    memory_map: MemoryMap,
    path: Path | str,
    *,
    x: XAxis | str = XAxis.INSTRUCTION,
    buffer: int | str | None = None,
) -> None:
    """Draw a memory map to a file: each allocation a rectangle of time x offset.

    Below are the bytes that are live, in fast memory and in the program as a whole, and
    where the time goes. A map that is not valid is drawn all the same, and the title
    says what is wrong with it. The same arguments give the same bytes.

    Args:
        problem: The program, the target and the cost model.
        memory_map: Any map whose offsets are given.
        path: The file, whose name ends in ``.png``, ``.svg`` or ``.pdf``.
        x: What goes to the right: the instructions, each as wide as any other, or the
            simulated time of one run without its stalls.
        buffer: The buffer to bring out, if any; as for ``find_buffer``.

    Raises:
        UsageError: The name ends otherwise, there is no such axis or buffer, an
            allocation lacks its offset or its buffer, or times are not finite.
        InputError: The file cannot be written.
    """
    path = Path(path)
    require_format(path)
    _require_drawable(problem.program, memory_map)
    chosen = None if buffer is None else find_buffer(problem.program, buffer)
    scene = Scene.of(problem, memory_map, _axis(x))
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever style the user has set
        matplotlib.rcParams.update(STYLE)
        data = _encode(page(scene, chosen), path.suffix.lower())
    write_bytes(path, data)


def require_format(path: Path) -> None:
    """Find out before any work whether a picture can have this name.

    Raises:
        UsageError: It ends in none of the suffixes of ``FORMATS``.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: expected a name that ends in .png, .svg or .pdf")


def _encode(figure: Figure, suffix: str) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*missing from font")
        figure.savefig(
            stream, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=FORMATS[suffix]
        )
    return stream.getvalue()


def _axis(x: XAxis | str) -> XAxis:
    try:
        return XAxis(x)
    except ValueError:
        expected = " or ".join(repr(axis.value) for axis in XAxis)
        raise UsageError(f"x axis {x!r}: expected {expected}") from None


def _require_drawable(program: Program, memory_map: MemoryMap) -> None:
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
