"""Files: text that may be compressed, read with clear errors and written at once."""

from __future__ import annotations

import errno
import gzip
import io
import os
import zlib
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from hybridalloc.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"


def is_folder(path: Path) -> bool:
    """Whether there is a folder at this path.

    Raises:
        InputError: The operating system does not tell, as for a name that is too long.
    """
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot read this file: {_reason(error)}") from error


def read_text(path: Path | str) -> str:
    r"""The text of a UTF-8 file, which may be compressed with gzip.

    It is taken as compressed if it begins with gzip's two magic bytes or if its name
    ends in ``.gz``. Line ends become ``\n``; a byte order mark is dropped.

    Raises:
        InputError: The file cannot be read, decompressed or decoded.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        if data.startswith(GZIP_MAGIC) or path.suffix == ".gz":
            data = gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(path, f"expected a gzip file: {error}") from error
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot read this file: {_reason(error)}") from error
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"found byte 0x{data[error.start]:02x}"
        raise InputError(path, f"expected UTF-8 text, {found}", line) from error


def require_readable(path: Path) -> None:
    """Find out that a file can be opened, before a library is asked to read it.

    Raises:
        InputError: It cannot.
    """
    try:
        path.open("rb").close()
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot read this file: {_reason(error)}") from error


def write_text(path: Path | str, text: str) -> None:
    """Write a UTF-8 file, compressed with gzip if its name ends in ``.gz``.

    The file appears complete or not at all: the text goes to a temporary file in the
    same folder, which is then renamed. The same text always gives the same bytes.

    Raises:
        InputError: The file cannot be written.
    """
    path = Path(path)
    try:
        data = text.encode()
    except ValueError as error:
        raise InputError(path, f"cannot write this file: {_reason(error)}") from error
    write_bytes(path, _compress(data) if path.suffix == ".gz" else data)


def write_bytes(path: Path | str, data: bytes) -> None:
    """Write a file, which appears complete or not at all, as by ``write_text``.

    Raises:
        InputError: The file cannot be written.
    """
    path = Path(path)
    try:
        _write_bytes(path, data)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot write this file: {_reason(error)}") from error


def require_writable(path: Path) -> None:
    """Find out before any work that ``write_text`` will be able to write this file.

    Raises:
        InputError: Its folder does not exist or takes no files, or it is a folder.
    """
    if is_folder(path):
        raise InputError(path, "expected the name of a file to write, this is a folder")
    if not is_folder(path.absolute().parent):
        raise InputError(path, f"expected an existing folder {path.parent} to write to")
    try:
        _try_to_write(path)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot write this file: {_reason(error)}") from error


def _try_to_write(path: Path) -> None:
    """Write nothing, in the way of ``_write_bytes``."""
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return
    final, temporary = _places(path)
    with suppress(FileNotFoundError):
        final.lstat()  # fails if the name is too long
    try:
        temporary.touch(exist_ok=False)
    finally:
        temporary.unlink(missing_ok=True)


def _compress(data: bytes) -> bytes:
    stream = io.BytesIO()
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as file:
        file.write(data)
    return stream.getvalue()


def _write_bytes(path: Path, data: bytes) -> None:
    if _is_special(path):
        path.write_bytes(data)
        return
    final, temporary = _places(path)
    try:
        temporary.write_bytes(data)
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether this is a device or pipe, which must not be replaced."""
    return path.exists() and not path.is_file()


def _places(path: Path) -> tuple[Path, Path]:
    """Where a file goes, and where it is until it is complete."""
    final = path.resolve()  # what a link points to is replaced, not the link
    return final, final.with_name(f".{uuid4().hex}.tmp")


def _reason(error: Exception) -> str:
    """The operating system's words, without the path that an ``OSError`` repeats."""
    return getattr(error, "strerror", None) or str(error)
