"""The tables that XLA dumps of Memory Space Assignment, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hybridalloc.io.tables import integer, integers, number, read_table


@dataclass(frozen=True, slots=True)
class BufferRow:
    """A row of ``bufferinfo``."""

    buffer_id: int
    name: str
    """The value that defines it, as ``instruction{index}``."""
    benefit: float
    size: int
    definition_time: int
    use_times: tuple[int, ...]


def read_buffer_rows(path: Path) -> tuple[BufferRow, ...]:
    """The rows of ``bufferinfo``.

    Raises:
        InputError: The file cannot be read, or is none.
    """
    columns = ["buffer_id", "buffer_name", "alt_mem_benefit", "size"]
    columns += ["definition_time", "use_times"]
    return tuple(read_table(path, columns, _buffer_row))


def _buffer_row(row: dict[str, str]) -> BufferRow:
    _, _, name = row["buffer_name"].strip("<> ").partition(" ")
    return BufferRow(
        buffer_id=integer(row, "buffer_id", low=-(2**31)),
        name=name,
        benefit=number(row, "alt_mem_benefit"),
        size=integer(row, "size"),
        definition_time=integer(row, "definition_time"),
        use_times=tuple(integers(row, "use_times")),
    )


def read_schedule_rows(path: Path) -> list[tuple[int, str]]:
    """The rows of ``scheduleinfo``: times, and names of instructions.

    Raises:
        InputError: The file cannot be read, or is none.
    """
    columns = ("time", "instruction_name")
    return read_table(
        path, columns, lambda row: (integer(row, "time"), row[columns[1]])
    )
