"""Claims: a folder is tuned in by one process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hybridalloc.errors import InputError, UsageError

LOCK = "lock"
"""The file that whoever tunes in a folder has locked; it stays."""


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
