"""CSV tables with known columns, read with errors that name the line."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from hybridalloc.errors import InputError
from hybridalloc.io.files import read_text

Row = TypeVar("Row")

MAX_FIELD = 2**31 - 1
"""Characters of one field: a buffer may have many uses."""


def read_table(
    path: Path, columns: Sequence[str], parse: Callable[[dict[str, str]], Row]
) -> list[Row]:
    """Read a CSV file, turning each row into an object.

    Args:
        path: The file, compressed or not.
        columns: The columns that it must have; others are ignored.
        parse: Makes an object of a row, raising ``ValueError`` where it is wrong.

    Raises:
        InputError: The file cannot be read, lacks a column, or has a wrong row.
    """
    reader = csv.DictReader(read_text(path).splitlines(), strict=True)
    rows: list[Row] = []
    limit = csv.field_size_limit(MAX_FIELD)
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(
                path,
                f"expected the columns {', '.join(columns)}; "
                f"{', '.join(missing)} missing",
                line=1,
            )
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(f"expected {len(reader.fieldnames or ())} fields")
            rows.append(parse(row))
    except (csv.Error, ValueError, OverflowError) as error:
        raise InputError(path, str(error), reader.line_num) from error
    finally:
        csv.field_size_limit(limit)
    return rows


def integer(row: dict[str, str], column: str, low: int = 0, high: int = 2**53) -> int:
    """The integer in a column, in [low, high).

    Raises:
        ValueError: It is none, or out of range.
    """
    text = row[column].strip()
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{column}: expected an integer, got {text[:40]!r}") from None
    if not low <= value < high:
        raise ValueError(f"{column}: {value} is not in [{low}, {high})")
    return value


def integers(row: dict[str, str], column: str) -> list[int]:
    """The integers in a column, separated by semicolons.

    Raises:
        ValueError: One of them is none.
    """
    parts = [part for part in row[column].split(";") if part.strip()]
    return [integer({column: part}, column) for part in parts]


def number(row: dict[str, str], column: str) -> float:
    """The number in a column, in (-2**53, 2**53).

    Raises:
        ValueError: It is none, or out of range.
    """
    text = row[column].strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not -(2**53) < value < 2**53:
        raise ValueError(f"{column}: expected a number, got {text[:40]!r}")
    return value


def seconds(row: dict[str, str], column: str) -> float:
    """The time in a column, at least 0.

    Raises:
        ValueError: It is none.
    """
    text = row[column].strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"{column}: expected seconds, got {text[:40]!r}")
    return value
