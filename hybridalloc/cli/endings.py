"""How a command ends: its exit code, and one line on stderr if it failed."""

from __future__ import annotations

import sys
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes."""

    ANSWER = 0
    INFEASIBLE = 1
    """Proven infeasible, or a check failed."""
    BAD_INPUT = 2
    """Bad input or usage."""
    NO_ANSWER = 3
    """Within the limit."""
    DEFECT = 70
    OUTPUT = 74
    """Stdout is full, closed or broken in another way."""
    INTERRUPTED = 130
    """By Ctrl-C, before there was an answer."""


def tell(kind: str, message: str) -> None:
    """Write one line to stderr, such as ``error: ...``, whatever the message holds.

    Where stderr is closed or full, the exit code has to do.
    """
    if sys.stderr is None:
        return
    line = "".join(c if c.isprintable() else " " for c in " ".join(message.split("\n")))
    try:
        print(f"{kind}: {line}", file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = None  # or Python tries again at its end


def interrupted() -> int:
    """Say that Ctrl-C came too early; the exit code."""
    tell("error", "interrupted before there was an answer")
    return Exit.INTERRUPTED
