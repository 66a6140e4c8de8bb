"""Workload folders, which appear complete or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from hybridalloc.errors import CompilerError, InputError, UsageError
from hybridalloc.interruption import postponed
from hybridalloc.io.xla.captured import CAPTURE

_NAMES = (
    *("before_msa.hlo", "after_msa.hlo"),
    *("bufferinfo.csv", "allocinfo.csv", "scheduleinfo.csv"),
    *("estimates.csv", "cycles.csv", CAPTURE, "stats.json"),
)
WORKLOAD_FILES = frozenset(f"{name}{end}" for name in _NAMES for end in ("", ".gz"))
"""What a workload folder may hold: one that holds more is not written over."""


def require_replaceable(folder: Path) -> None:
    """Refuse to write a workload over anything but a workload.

    Raises:
        UsageError: There is something else at this path.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder to write to, this is a file")
    other = sorted({path.name for path in folder.iterdir()} - WORKLOAD_FILES)
    if other:
        raise UsageError(
            f"{folder}: expected an empty folder or a workload to replace, found "
            f"{other[0]} in it"
        )


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A folder to work in, on the same disk as another, gone at the end.

    Raises:
        CompilerError: Files cannot be written there.
    """
    place: Path | None = None
    try:
        parent = folder.resolve().parent
        parent.mkdir(parents=True, exist_ok=True)
        place = Path(mkdtemp(".tmp", f".{folder.name}.", parent))
        yield place
    except InputError as error:
        raise CompilerError(str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompilerError(f"{folder}: cannot write this folder: {reason}") from error
    finally:
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)


def replace_folder(new: Path, folder: Path) -> None:
    """Move a folder to where another may be, which goes; a link to it stays."""
    folder, old = folder.resolve(), new.with_name(f"{new.name}.old")
    with postponed():
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
