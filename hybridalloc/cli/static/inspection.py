"""``check``, ``info`` and ``show`` of CSV files of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.output import progress, show, show_json
from hybridalloc.cli.static.answers import read_given_buffers
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import require_writable
from hybridalloc.io.minimalloc import read_buffers
from hybridalloc.report.static import static_info
from hybridalloc.static.checker import check_offsets
from hybridalloc.static.description import describe_static
from hybridalloc.static.problem import StaticProblem


def check_csv(
    path: Path,
    offsets_path: str,
    capacity: str | None,
    reserved: Sequence[str],
    *,
    as_json: bool,
) -> int:
    """Check the offsets in a CSV file, and name each rule that they break.

    Args:
        path: The buffers.
        offsets_path: The same buffers, in any order, with an offset each.
        capacity: Bytes, if not those in the first file's name.
        reserved: Ranges of bytes that no buffer may touch.
        as_json: Whether to print JSON.

    Raises:
        InputError: A file cannot be read, or the second lacks an offset.
        UsageError: The capacity is no size, or a range is none.
    """
    problem = read_given_buffers(path, capacity, reserved)
    violations = check_offsets(problem, _offsets(problem, offsets_path))
    if as_json:
        verdict = {
            "input": str(path),
            "map": offsets_path,
            "capacity_bytes": problem.capacity,
            "valid": not violations,
            "violations": [asdict(violation) for violation in violations],
        }
        show_json(verdict)
    else:
        lines = [f"{violation.rule}: {violation.message}" for violation in violations]
        show(*(lines or ["valid"]))
    return Exit.INFEASIBLE if violations else Exit.ANSWER


def info_csv(path: Path, capacity: str | None, *, as_json: bool) -> int:
    """Describe a file of buffers.

    Raises:
        InputError: It cannot be read.
        UsageError: The capacity is no size.
    """
    found = describe_static(str(path), read_given_buffers(path, capacity))
    if as_json:
        show_json(asdict(found))
    else:
        show(static_info(found))
    return Exit.ANSWER


def show_csv(
    path: Path, offsets_paths: Sequence[str], capacity: str | None, out: Path | None
) -> int:
    """Draw the offsets in a CSV file over time.

    Args:
        path: The buffers.
        offsets_paths: One file: the same buffers, in any order, with an offset each.
        capacity: Bytes, if not those in the first file's name.
        out: The picture.

    Raises:
        InputError: A file cannot be read, or the second lacks an offset; or the
            picture cannot be written.
        UsageError: There is not one file of offsets, or no picture to draw; its format
            is none; or the capacity is no size.
    """
    from hybridalloc.report.formats import PRINTED, require_format
    from hybridalloc.report.picture.arena import draw_arena  # loads matplotlib

    if len(offsets_paths) != 1 or out is None:
        expected = "one file of offsets, and --out FILE.png|svg|pdf"
        raise UsageError(f"{path}: expected {expected}")
    require_format(out, PRINTED)
    require_writable(out)
    with progress() as step:
        problem = read_given_buffers(path, capacity)
        offsets = _offsets(problem, offsets_paths[0])
        step(f"drawing {out.name}")
        draw_arena(problem, offsets, out)
    show(f"picture written to {out}")
    return Exit.ANSWER


def _offsets(problem: StaticProblem, path: str) -> list[int]:
    """The offset of each buffer, from a file that has them by name."""
    found = {x.name: x.offset for x in read_buffers(path).buffers}
    offsets = [found.get(buffer.name) for buffer in problem.buffers]
    for buffer, offset in zip(problem.buffers, offsets, strict=True):
        if offset is None:
            raise InputError(path, f"expected an offset of {buffer.name}")
    return [x for x in offsets if x is not None]
