"""What users see: results on stdout, and on stderr single lines and progress."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment

from hybridalloc.report.words import printable

_UNLIMITED_WIDTH = 1000


class OutputError(Exception):
    """Stdout does not take what there is to say."""


class _Console(Console):
    """One that no name can give orders to: each odd character becomes a space."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render with printable characters and line ends only."""
        for segment in super().render(renderable, options):
            text = "\n".join(map(printable, segment.text.split("\n")))
            yield segment if segment.control else segment._replace(text=text)


class Step(Protocol):
    """Says what is being done, and how many steps of it are complete."""

    def __call__(self, description: str, *, advance: int = 0) -> None:
        """Show the description; count more steps as complete."""


def show(*parts: RenderableType) -> None:
    """Write tables and lines for people to stdout, folded on a terminal only."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    text = io.StringIO()
    console = _Console(
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


def apart(lines: Sequence[str]) -> list[str]:
    """Lines that stand below a table, if there are any: an empty one comes first."""
    return ["", *lines] if lines else []


def show_json(value: object) -> None:
    """Write one JSON value, and nothing else, to stdout."""
    _write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _write(text: str) -> None:
    if sys.stdout is None:
        raise OutputError("cannot write to stdout: it is closed")
    with _stdout_judged():
        sys.stdout.write(text)
        sys.stdout.flush()


def flush() -> None:
    """Have stdout take what was written; where its reader has gone, all is well.

    Raises:
        OutputError: It does not.
    """
    if sys.stdout is not None:
        with _stdout_judged():
            sys.stdout.flush()


@contextmanager
def _stdout_judged() -> Iterator[None]:
    """Where the reader of stdout has gone, the answer stands all the same."""
    try:
        yield
    except OSError as error:
        failure = unwritable(error)
        if not isinstance(error, BrokenPipeError):
            raise failure from error


def unwritable(error: OSError) -> OutputError:
    """Give stdout up, as Python writes to it at its end; the error to raise."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OutputError(f"cannot write to stdout: {error.strerror or error}")


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
        disable=sys.stderr is None or not sys.stderr.isatty(),
    )
    task = bar.add_task("", total=total)

    def step(description: str, *, advance: int = 0) -> None:
        bar.update(task, description=description, advance=advance)

    with bar:
        yield step
