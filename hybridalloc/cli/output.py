"""What users see: results on stdout, and on stderr single lines and progress."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Protocol

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

_UNLIMITED_WIDTH = 1000


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
    INTERRUPTED = 130
    """By Ctrl-C, before there was an answer."""


class Step(Protocol):
    """Says what is being done, and how many steps of it are complete."""

    def __call__(self, description: str, *, advance: int = 0) -> None:
        """Show the description; count more steps as complete."""


def tell(kind: str, message: str) -> None:
    """Write one line to stderr, such as ``error: ...``, whatever the message holds."""
    line = "".join(c if c.isprintable() else " " for c in " ".join(message.split("\n")))
    print(f"{kind}: {line}", file=sys.stderr, flush=True)


def show(*parts: RenderableType) -> None:
    """Write tables and lines for people to stdout, folded on a terminal only."""
    terminal = sys.stdout.isatty()
    text = io.StringIO()
    console = Console(
        file=text,
        force_terminal=terminal,
        width=Console().width if terminal else _UNLIMITED_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    _write("".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines()))


def show_json(value: object) -> None:
    """Write one JSON value, and nothing else, to stdout."""
    _write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _write(text: str) -> None:
    """Write to stdout; where the reader has gone, the answer stands all the same."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress(total: int | None = None) -> Iterator[Step]:
    """Show progress on stderr while the block runs, if that is a terminal.

    Args:
        total: How many steps there are; ``None`` if that is not known.
    """
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    if total is not None:
        columns += [BarColumn(), MofNCompleteColumn()]
    bar = Progress(
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task("", total=total)

    def step(description: str, *, advance: int = 0) -> None:
        bar.update(task, description=description, advance=advance)

    with bar:
        yield step
