"""Buffers by what people type."""

from __future__ import annotations

import re
from difflib import get_close_matches

from hybridalloc.errors import UsageError
from hybridalloc.program import Program

_MOST_NAMED = 6
"""How many buffers an error names."""


def find_buffer(program: Program, text: str) -> int:
    """The buffer that a text means.

    Args:
        program: Whose buffers to look through.
        text: A name; or else the beginning, or else any part, of one name only; or
            ``#`` and an index.

    Returns:
        Its index into ``program.buffers``.

    Raises:
        UsageError: It means no buffer, or more than one.
    """
    if re.fullmatch("#[0-9]+", text, re.ASCII):
        return _by_index(program, text)
    if text in program.buffer_index:
        return program.buffer_index[text]
    names = list(program.buffer_index)
    found = [name for name in names if text and name.startswith(text)]
    found = found or [name for name in names if text and text in name]
    if len(found) == 1:
        return program.buffer_index[found[0]]
    if found:
        raise UsageError(
            f"buffer {text!r}: {len(found)} names of {program.name} have it in them: "
            f"{_listing(found)} (expected a whole name, or a part of one name only)"
        )
    close = get_close_matches(text, names, n=3, cutoff=0.5)
    hint = f"did you mean {_listing(close)}?" if close else _advice(program)
    raise UsageError(f"unknown buffer {text!r} of {program.name}; {hint}")


def _by_index(program: Program, text: str) -> int:
    index = int(text[1:])
    if index >= len(program.buffers):
        raise UsageError(
            f"buffer {text}: {program.name} has {len(program.buffers)} buffers "
            f"(expected {_indices(program)})"
        )
    return index


def _listing(names: list[str]) -> str:
    more = ", ..." if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _advice(program: Program) -> str:
    if not program.buffers:
        return "it has no buffers"
    some = _listing([buffer.name for buffer in program.buffers[:_MOST_NAMED]])
    return f"expected a name, such as {some}, or {_indices(program)}"


def _indices(program: Program) -> str:
    return f"#0 to #{len(program.buffers) - 1}"
