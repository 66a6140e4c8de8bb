"""Files: text that may be compressed, read with clear errors and written at once."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path
from uuid import uuid4

from hybridalloc.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"


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
        _write_bytes(path, _compress(data) if path.suffix == ".gz" else data)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot write this file: {_reason(error)}") from error


def _compress(data: bytes) -> bytes:
    stream = io.BytesIO()
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as file:
        file.write(data)
    return stream.getvalue()


def _write_bytes(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():  # a device or pipe must not be replaced
        path.write_bytes(data)
        return
    final = path.resolve()  # what a link points to is replaced, not the link
    temporary = final.with_name(f".{uuid4().hex}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    """The operating system's words, without the path that an ``OSError`` repeats."""
    return getattr(error, "strerror", None) or str(error)
