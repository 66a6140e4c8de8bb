"""minimalloc's CSV files: buffers with lives, read and written.

The first line names the columns, in any order: ``id`` (or ``buffer``, ``buffer_id``),
``lower`` (or ``begin``, ``start``), ``upper`` (exclusive; or ``end``, inclusive) and
``size``; perhaps ``alignment``, ``hint`` (-1: none), ``gaps`` and ``offset`` (fixed;
-1 or nothing: free). Other columns are passed over with a warning. Reading stops at the
first blank line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import read_text, write_text
from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem

ALIASES = {
    "buffer": "id",
    "buffer_id": "id",
    "begin": "lower",
    "start": "lower",
    "end": "upper",
}
REQUIRED = ("id", "lower", "upper", "size")
OPTIONAL = ("alignment", "hint", "gaps", "offset")
_GAP = re.compile(r"(-?\d+)-(-?\d+)(?:@(\d+):(\d+))?")
_CAPACITY = re.compile(r".*\.(\d+)\.csv(?:\.gz)?", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d{1,40}", re.ASCII)


def read_buffers(path: Path | str, capacity: int | None = None) -> StaticProblem:
    """Read a CSV file of buffers.

    Args:
        path: The file, which may be compressed.
        capacity: Bytes; if not given, what the file's name says, as in ``A.1024.csv``.

    Raises:
        InputError: The file cannot be read, or is not of this format.
        UsageError: The capacity is no whole number.
    """
    if isinstance(capacity, bool) or not isinstance(capacity, int | None):
        raise UsageError(f"capacity {capacity!r}: expected a whole number of bytes")
    path = Path(path)
    return parse_buffers(read_text(path), path, capacity)


def parse_buffers(
    text: str, path: Path | str, capacity: int | None = None
) -> StaticProblem:
    """The buffers in the text of a CSV file.

    Raises:
        InputError: It is not of this format.
    """
    path = Path(path)
    lines = text.split("\n")
    if not lines[0].strip():
        raise InputError(path, f"expected columns {','.join(REQUIRED)}", 1)
    columns, is_inclusive = _columns(lines[0], path)
    buffers = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            break
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(columns):
            raise InputError(
                path, f"expected {len(columns)} fields, found {len(fields)}", number
            )
        row = dict(zip(columns, fields, strict=True))
        try:
            buffers.append(_buffer(row, int(is_inclusive)))
        except ValueError as error:
            raise InputError(path, str(error), number) from error
    if capacity is None:
        capacity = capacity_of(path)
    try:
        return StaticProblem(path.name, tuple(buffers), capacity)
    except ValueError as error:
        raise InputError(path, str(error)) from error


def capacity_of(path: Path) -> int | None:
    """The capacity in a file's name.

    >>> capacity_of(Path("input.12.csv")), capacity_of(Path("input.csv"))
    (12, None)
    """
    found = _CAPACITY.fullmatch(path.name)
    return int(found[1]) if found else None


def is_csv(path: Path | str) -> bool:
    """Whether a file's name says that it is one of these."""
    return Path(path).name.lower().endswith((".csv", ".csv.gz"))


def is_header(line: str) -> bool:
    """Whether a line names the columns that such a file must have.

    >>> is_header("buffer,start,end,size"), is_header("program,seconds")
    (True, False)
    """
    names = (name.strip() for name in line.split(","))
    return {ALIASES.get(name, name) for name in names} >= set(REQUIRED)


def write_buffers(
    path: Path | str, problem: StaticProblem, offsets: Sequence[int] | None = None
) -> None:
    """Write a CSV file of buffers, with their offsets if there are any.

    Raises:
        InputError: The file cannot be written, or a name cannot stand in it.
    """
    for buffer in problem.buffers:
        if re.search(r"[,\n\r]", buffer.name) or buffer.name != buffer.name.strip():
            raise InputError(
                path, f"buffer {buffer.name!r}: this name cannot stand in a CSV file"
            )
    write_text(path, format_buffers(problem, offsets))


def format_buffers(problem: StaticProblem, offsets: Sequence[int] | None = None) -> str:
    """The text of a CSV file; columns that say nothing are left out.

    >>> problem = StaticProblem("one", (StaticBuffer("b", 4, 0, 3),))
    >>> print(format_buffers(problem, [8]), end="")
    id,lower,upper,size,offset
    b,0,3,4,8
    """
    buffers = problem.buffers
    columns = {
        "id": [x.name for x in buffers],
        "lower": [str(x.start) for x in buffers],
        "upper": [str(x.end) for x in buffers],
        "size": [str(x.size) for x in buffers],
    }
    if any(x.alignment != 1 for x in buffers):
        columns["alignment"] = [str(x.alignment) for x in buffers]
    if any(x.hint is not None for x in buffers):
        columns["hint"] = [_offset_text(x.hint) for x in buffers]
    if any(x.gaps for x in buffers):
        columns["gaps"] = [" ".join(map(_gap_text, x.gaps)) for x in buffers]
    placed: Sequence[int | None] = [x.offset for x in buffers]
    if offsets is not None:
        placed = offsets
    if any(x is not None for x in placed):
        columns["offset"] = [_offset_text(x) for x in placed]
    lines = [columns, *zip(*columns.values(), strict=True)]
    return "".join(",".join(line) + "\n" for line in lines)


def _columns(header: str, path: Path) -> tuple[list[str], bool]:
    """The names of the columns, and whether the last instant is part of a life."""
    names = [name.strip() for name in header.split(",")]
    columns = [ALIASES.get(name, name) for name in names]
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise InputError(path, f"expected a column {missing[0]}, found {names}", 1)
    if len(set(columns)) < len(columns):
        raise InputError(path, f"two columns of the same meaning in {names}", 1)
    known = (*REQUIRED, *OPTIONAL)
    if unknown := [name for name in columns if name not in known]:
        warnings.warn(
            f"{path}: columns {unknown} are passed over; known: {', '.join(known)}",
            stacklevel=4,
        )
    return columns, "end" in names


def _buffer(row: Mapping[str, str], addend: int) -> StaticBuffer:
    """The buffer in a row, to the ends of whose times so much is added."""
    return StaticBuffer(
        name=row["id"],
        size=_whole(row, "size"),
        start=_whole(row, "lower"),
        end=_whole(row, "upper") + addend,
        alignment=_whole(row, "alignment") if row.get("alignment") else 1,
        gaps=_gaps(row.get("gaps", ""), addend),
        offset=_optional(row, "offset"),
        hint=_optional(row, "hint"),
    )


def _whole(row: Mapping[str, str], column: str) -> int:
    if not _NUMBER.fullmatch(row[column]):
        raise ValueError(f"{column} {row[column]!r}: expected a whole number")
    return int(row[column])


def _optional(row: Mapping[str, str], column: str) -> int | None:
    value = _whole(row, column) if row.get(column) else -1
    return None if value < 0 else value


def _gaps(text: str, addend: int) -> tuple[Gap, ...]:
    gaps = []
    for part in text.split():
        found = _GAP.fullmatch(part)
        if found is None:
            raise ValueError(
                f"gap {part!r}: expected LOWER-UPPER or LOWER-UPPER@LOW:HIGH"
            )
        start, end, low, high = (None if x is None else int(x) for x in found.groups())
        window = None if low is None or high is None else (low, high)
        gaps.append(Gap(start or 0, (end or 0) + addend, window))
    return tuple(sorted(gaps, key=lambda gap: gap.start))


def _gap_text(gap: Gap) -> str:
    window = "" if gap.window is None else f"@{gap.window[0]}:{gap.window[1]}"
    return f"{gap.start}-{gap.end}{window}"


def _offset_text(offset: int | None) -> str:
    return "-1" if offset is None else str(offset)
