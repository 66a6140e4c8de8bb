"""The problem file and the map file: versioned JSON (``docs/format.md``).

Buffers are called by name in the files, so that a reader can follow them and a map
for another program is recognised. Reading gives back exactly what was written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from hybridalloc.io.collector import collector_paused
from hybridalloc.io.files import read_text, write_text
from hybridalloc.io.json_format.decoding import decode_map, decode_problem
from hybridalloc.io.json_format.encoding import encode_map, encode_problem
from hybridalloc.io.json_format.fault import input_error
from hybridalloc.io.json_format.records import MapFile, ProblemFile, Record
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem

File = TypeVar("File", bound=Record)
Content = TypeVar("Content")


def read_problem(path: Path | str) -> Problem:
    """Read a problem file, compressed with gzip or not.

    Raises:
        InputError: The file cannot be read or does not describe a problem.
    """
    return loads_problem(read_text(path), path)


def write_problem(problem: Problem, path: Path | str) -> None:
    """Write a problem file, compressed with gzip if its name ends in ``.gz``.

    Raises:
        InputError: The file cannot be written, or a number is beyond the format.
    """
    _write(lambda: dumps_problem(problem), path)


def read_map(path: Path | str, problem: Problem) -> MemoryMap:
    """Read a map file of this problem's program, compressed with gzip or not.

    Whether the map is valid is for the checker to say.

    Raises:
        InputError: The file cannot be read, or is not a map for this program.
    """
    return loads_map(read_text(path), problem, path)


def write_map(memory_map: MemoryMap, problem: Problem, path: Path | str) -> None:
    """Write a map file, compressed with gzip if its name ends in ``.gz``.

    Raises:
        InputError: The file cannot be written, a number is beyond the format, or the
            map is for another program.
    """
    _write(lambda: dumps_map(memory_map, problem), path)


def loads_problem(text: str, path: Path | str = "<string>") -> Problem:
    """The problem that the text of a problem file describes.

    Args:
        text: JSON, as ``dumps_problem`` gives it.
        path: What messages call the text.

    Raises:
        InputError: The text does not describe a problem.
    """
    return _decode(text, path, ProblemFile, decode_problem)


def dumps_problem(problem: Problem) -> str:
    """The text of a problem file, without the fields that have their defaults.

    Raises:
        ValueError: A number is beyond what the format holds (2^53).
    """
    return _lay_out(encode_problem(problem)) + "\n"


def loads_map(text: str, problem: Problem, path: Path | str = "<string>") -> MemoryMap:
    """The memory map that the text of a map file describes.

    Args:
        text: JSON, as ``dumps_map`` gives it.
        problem: What the map is for; its program's name must be the file's.
        path: What messages call the text.

    Raises:
        InputError: The text is not a map for this program.
    """
    program = problem.program
    return _decode(text, path, MapFile, lambda file: decode_map(file, program))


def capacity_of_map(text: str, path: Path | str = "<string>") -> int:
    """Bytes of the fast memory that the map in a map file's text was made for.

    Raises:
        InputError: The text is not a map file.
    """
    return _decode(text, path, MapFile, lambda file: file.capacity_bytes)


def dumps_map(memory_map: MemoryMap, problem: Problem) -> str:
    """The text of a map file, without the fields that have their defaults.

    Raises:
        ValueError: A number is beyond what the format holds (2^53), or the map is for
            another program.
    """
    return _lay_out(encode_map(memory_map, problem)) + "\n"


def _decode(
    text: str, path: Path | str, kind: type[File], decode: Callable[[File], Content]
) -> Content:
    try:
        with collector_paused():
            return decode(kind.model_validate_json(text))
    except ValueError as error:
        raise input_error(path, text, error) from error


def _write(dumps: Callable[[], str], path: Path | str) -> None:
    try:
        text = dumps()
    except ValueError as error:
        raise input_error(path, "", error) from error
    write_text(path, text)


def _lay_out(value: object, indent: str = "") -> str:
    """JSON in which each field, and each element of a long array, has its own line.

    Args:
        value: Dictionaries, whose values are laid out in turn; iterators, whose
            elements have a line each; anything else has one line in all.
        indent: The white space before the line that the value begins on.
    """
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [
            f"{_line(key)}: {_lay_out(item, inner)}" for key, item in value.items()
        ]
        start, end = "{}"
    elif isinstance(value, Iterator):
        lines = list(map(_line, value))
        start, end = "[]"
    else:
        return _line(value)
    if not lines:
        return start + end
    return f"{start}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{end}"


_line = json.JSONEncoder(ensure_ascii=False).encode
