"""Sizes and times as people write and read them."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from hybridalloc.errors import UsageError
from hybridalloc.program import MAX_BYTES

_UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", re.ASCII)


def parse_size(text: str) -> int:
    """The number of bytes that a text such as ``16MiB`` says.

    Args:
        text: A number with or without one of the units B, kB, MB, GB (powers of 1000),
            KiB, MiB and GiB (powers of 1024), in any case.

    Raises:
        UsageError: It says none, or one that is not in [1, 2^53).

    >>> parse_size("16MiB"), parse_size("1.5 kB"), parse_size("4096")
    (16777216, 1500, 4096)
    """
    match = _SIZE.fullmatch(text.strip())
    factors = {unit.lower(): factor for unit, factor in _UNITS.items()}
    factor = factors.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise UsageError(
            f"size {text!r}: expected bytes, such as 16777216, 16MiB, 128 KiB or 16MB"
        )
    size = Decimal(match[1]) * factor
    if not (1 <= size < MAX_BYTES and size == int(size)):
        raise UsageError(
            f"size {text!r}: expected a whole number of bytes in [1, {MAX_BYTES})"
        )
    return int(size)


def size_text(size: float | None) -> str:
    """A number of bytes to read, in powers of 1024.

    >>> size_text(2**27), size_text(5000), size_text(12), size_text(None)
    ('128 MiB', '4.88 KiB', '12 B', '-')
    """
    if size is None:
        return MISSING
    for unit in ("GiB", "MiB", "KiB"):
        if abs(size) >= _UNITS[unit]:
            return f"{_digits(size / _UNITS[unit])} {unit}"
    return f"{size:.0f} B"


def time_text(seconds: float | None) -> str:
    """A time to read.

    >>> time_text(0.0114660), time_text(2.5e-7), time_text(75), time_text(0)
    ('11.47 ms', '250 ns', '75 s', '0 s')
    >>> time_text(float("inf")), time_text(float("nan"))
    ('inf s', 'nan s')
    """
    if seconds is None:
        return MISSING
    if seconds == 0 or not math.isfinite(seconds):
        return f"{seconds:.0f} s"
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= factor:
            return f"{_digits(seconds / factor, 4)} {unit}"
    return f"{_digits(seconds / 1e-9)} ns"


def ratio_text(ratio: float | None) -> str:
    """How many times faster, to read.

    >>> ratio_text(1.2345), ratio_text(None)
    ('1.234x', '-')
    """
    return MISSING if ratio is None else f"{ratio:.3f}x"


MISSING = "-"
"""What stands for an unknown value."""


def _digits(value: float, digits: int = 3) -> str:
    """A value with this many digits; whole numbers without a fraction."""
    if value == int(value):
        return f"{value:.0f}"
    before = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:.{max(0, digits - before)}f}"
