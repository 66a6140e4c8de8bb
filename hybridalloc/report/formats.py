"""What the names of pictures end in."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hybridalloc.errors import UsageError

WEB, PRINTED = ".html", (".png", ".svg", ".pdf")
FORMATS = (WEB, *PRINTED)


def require_format(path: Path, formats: Collection[str] = FORMATS) -> None:
    """Find out before any work whether a picture can have this name.

    Raises:
        UsageError: It ends in none of the formats.
    """
    if path.suffix.lower() not in formats:
        *others, last = formats
        expected = f"{', '.join(others)} or {last}"
        raise UsageError(f"{path}: expected a name that ends in {expected}")
