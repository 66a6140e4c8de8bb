"""Buffers by what people type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from hybridalloc.errors import UsageError
from hybridalloc.program import Program

_MOST_NAMED = 6
"""How many buffers an error names."""


def find_buffer(program: Program, buffer: int | str) -> int:
    """The buffer that an index or a text means.

    Args:
        program: Whose buffers to look through.
        buffer: An index into ``program.buffers``; or a text: a name; or else the
            beginning, or else any part, of one name only; or ``#`` and an index.

    Returns:
        Its index.

    Raises:
        UsageError: It means no buffer, or more than one.
    """
    if isinstance(buffer, int):
        return _require_index(program, buffer)
    if re.fullmatch("#[0-9]{1,18}", buffer, re.ASCII):
        return _require_index(program, int(buffer[1:]))
    return _by_name(program, buffer)


def listing(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Names; how many more, after the first few.

    >>> listing(["a", "b", "c"]), listing(["a", "b", "c"], most=1)
    ('a, b, c', 'a and 2 more')
    """
    more = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _by_name(program: Program, text: str) -> int:
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
            f"{listing(found)} (expected a whole name, or a part of one name only)"
        )
    close = get_close_matches(text, names, n=3, cutoff=0.5)
    hint = f"did you mean {listing(close)}?" if close else _advice(program)
    raise UsageError(f"unknown buffer {text!r} of {program.name}; {hint}")


def _require_index(program: Program, index: int) -> int:
    if not 0 <= index < len(program.buffers):
        raise UsageError(
            f"buffer #{index}: {program.name} has {len(program.buffers)} buffers "
            f"(expected {_indices(program)})"
        )
    return index


def _advice(program: Program) -> str:
    if not program.buffers:
        return "it has no buffers"
    some = listing([buffer.name for buffer in program.buffers[:_MOST_NAMED]])
    return f"expected a name, such as {some}, or {_indices(program)}"


def _indices(program: Program) -> str:
    return f"#0 to #{len(program.buffers) - 1}"
