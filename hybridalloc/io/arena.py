"""Offsets for those who use them: a C header, or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import lcm
from pathlib import Path

from hybridalloc.errors import UsageError
from hybridalloc.io.files import write_text
from hybridalloc.io.minimalloc import is_csv, write_buffers
from hybridalloc.static.problem import StaticProblem

ENDINGS = (".csv", ".h", ".json")


def require_known_ending(path: Path) -> None:
    """Refuse a file whose name does not say which format it is to have.

    Raises:
        UsageError: It does not.
    """
    if not (is_csv(path) or path.suffix in ENDINGS):
        raise UsageError(f"{path}: expected a name that ends in {', '.join(ENDINGS)}")


def write_offsets(
    path: Path, problem: StaticProblem, offsets: Sequence[int], peak_bytes: int
) -> None:
    """Write offsets in the format that the file's name says.

    Raises:
        InputError: The file cannot be written.
        UsageError: The name says none.
    """
    require_known_ending(path)
    if path.suffix == ".h":
        write_text(path, header_text(problem, offsets, peak_bytes, path.stem))
    elif path.suffix == ".json":
        write_text(path, json_text(problem, offsets, peak_bytes))
    else:
        write_buffers(path, problem, offsets)


def json_text(problem: StaticProblem, offsets: Sequence[int], peak_bytes: int) -> str:
    """One JSON object: the arena's size, and the offset of each buffer by its name."""
    names = [buffer.name for buffer in problem.buffers]
    arena = {
        "name": problem.name,
        "arena_bytes": peak_bytes,
        "alignment": _alignment(problem),
        "offsets": dict(zip(names, offsets, strict=True)),
    }
    return json.dumps(arena, indent=2, ensure_ascii=False) + "\n"


def header_text(
    problem: StaticProblem, offsets: Sequence[int], peak_bytes: int, name: str
) -> str:
    """A C header with the arena's size and alignment, and the offset of each buffer.

    >>> from hybridalloc.static.problem import StaticBuffer
    >>> problem = StaticProblem("one", (StaticBuffer("b.1", 4, 0, 3),))
    >>> print(header_text(problem, [8], 12, "net"), end="")
    /* Offsets in bytes, from the start of an arena. */
    #ifndef NET_H
    #define NET_H
    <BLANKLINE>
    #define NET_ARENA_SIZE 12
    #define NET_ARENA_ALIGNMENT 1
    <BLANKLINE>
    #define NET_OFFSET_B_1 8
    <BLANKLINE>
    #endif
    """
    prefix = _identifier(name)
    if not prefix[0].isalpha():
        prefix = f"A{prefix}"
    lines = [
        "/* Offsets in bytes, from the start of an arena. */",
        f"#ifndef {prefix}_H",
        f"#define {prefix}_H",
        "",
        f"#define {prefix}_ARENA_SIZE {_literal(peak_bytes)}",
        f"#define {prefix}_ARENA_ALIGNMENT {_literal(_alignment(problem))}",
        "",
    ]
    identifiers = _distinct([buffer.name for buffer in problem.buffers])
    for identifier, offset in zip(identifiers, offsets, strict=True):
        lines.append(f"#define {prefix}_OFFSET_{identifier} {_literal(offset)}")
    return "\n".join([*lines, "", "#endif", ""])


def _alignment(problem: StaticProblem) -> int:
    """What the arena's own address has to be a multiple of."""
    return lcm(*(buffer.alignment for buffer in problem.buffers))


def _identifier(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]", "_", name).upper() or "_"


def _distinct(names: Sequence[str]) -> list[str]:
    """Identifiers, of which those that would be alike have a number at the end."""
    found: dict[str, None] = {}
    for name in names:
        identifier, number = _identifier(name), 1
        while identifier in found:
            number += 1
            identifier = f"{_identifier(name)}_{number}"
        found[identifier] = None
    return list(found)


def _literal(value: int) -> str:
    """A number in C, which may not fit an ``int``."""
    return f"{value}" if value < 2**31 else f"{value}ULL"
