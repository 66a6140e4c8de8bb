"""Claims: a folder holds the tuning of one program, by one process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hybridalloc.compiler.source import Source
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import read_text, write_text
from hybridalloc.target import Target

LOCK = "lock"
"""The file that whoever tunes in a folder has locked; it stays."""
NOTE = "source.txt"
"""The file that says of what program the tuning is."""


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Keep a folder, made if need be, to this process while the block runs.

    Raises:
        InputError: The folder takes no files.
        UsageError: Another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(folder, f"cannot write to this folder: {reason}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"{folder}: another process is tuning in this folder"
            ) from error
        yield


def require_same(folder: Path, source: Source, target: Target) -> None:
    """Refuse to go on with the tuning of another program; note whose it is.

    Raises:
        UsageError: The folder holds one.
    """
    text = f"{source.label}\n{target.name}\n"
    if source.path is not None:
        text += read_text(source.path)
    note = folder / NOTE
    if not note.exists():
        write_text(note, text)
    elif read_text(note) != text:
        raise UsageError(
            f"{folder}: expected a new folder, or the tuning of this program as it is; "
            f"{NOTE} there is of another one"
        )
