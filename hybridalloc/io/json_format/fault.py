"""What is wrong with a JSON file, and where: one field, its line, one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from json import JSONDecoder, dumps
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from hybridalloc.errors import InputError
from hybridalloc.io.json_format.records import VERSION

Step = str | int
"""A key of an object, or an index into an array."""
Source = TypeVar("Source")
Converted = TypeVar("Converted")

_SPACE = re.compile(r"[ \t\r\n]*")
_SYNTAX = re.compile(r"(?P<what>.*) at line (?P<line>\d+) column (?P<column>\d+)")
_LONGEST_VALUE = 60
_LONGEST_MESSAGE = 500


class FieldError(ValueError):
    """A field whose value is impossible; ``steps`` lead to it from the top."""

    def __init__(self, message: str, *steps: Step, line: int | None = None) -> None:
        self.steps, self.line = steps, line
        super().__init__(message)

    @classmethod
    def within(cls, error: ValueError, *steps: Step) -> FieldError:
        """The same error, seen from further out."""
        inner = error.steps if isinstance(error, FieldError) else ()
        return cls(str(error), *steps, *inner)


def decode_at(
    key: str, record: Source, decode: Callable[[Source], Converted]
) -> Converted:
    """Decode the object at this key.

    Raises:
        FieldError: It is impossible; says where.
    """
    try:
        return decode(record)
    except ValueError as error:
        raise FieldError.within(error, key) from error


def decode_each(
    key: str, records: Iterable[Source], decode: Callable[[Source], Converted]
) -> tuple[Converted, ...]:
    """Decode the elements of the array at this key.

    Raises:
        FieldError: An element is impossible; says which.
    """
    converted = []
    for index, record in enumerate(records):
        try:
            converted.append(decode(record))
        except ValueError as error:
            raise FieldError.within(error, key, index) from error
    return tuple(converted)


def input_error(path: Path | str, text: str, error: ValueError) -> InputError:
    """The one line that tells a user of a fault in this text."""
    if isinstance(error, ValidationError):
        fault = _field_error(error)
    else:
        fault = FieldError.within(error)
    parts = [f"[{s}]" if isinstance(s, int) else f".{s}" for s in fault.steps]
    field = "".join(parts).removeprefix(".")
    message = f"{field}: {fault}" if field else f"{fault}"
    line = fault.line
    if line is None and fault.steps:
        line = line_of(text, fault.steps)
    return InputError(path, _one_line(message), line)


def _field_error(error: ValidationError) -> FieldError:
    """The first thing that pydantic found, in words for the file's author."""
    first = error.errors(include_url=False)[0]
    kind, steps = first["type"], first["loc"]
    message = first["msg"].replace("Input should be", "expected")
    if kind == "json_invalid":
        return _syntax_error(message, first["input"])
    if kind == "missing":
        return FieldError("this field is missing", *steps)
    if kind == "extra_forbidden":
        return FieldError("unknown field (docs/format.md lists the known)", *steps)
    if steps == ("version",):
        message = f"expected {VERSION}, the only version known here"
    return FieldError(f"{message}, found {_show(first['input'])}", *steps)


def _syntax_error(message: str, text: str) -> FieldError:
    if not text.strip():
        return FieldError("the file is empty, expected a JSON object")
    syntax = _SYNTAX.fullmatch(message)
    if syntax is None:
        return FieldError(message)
    message = f"{syntax['what']} (column {syntax['column']})"
    return FieldError(message, line=int(syntax["line"]))


def line_of(text: str, steps: Iterable[Step]) -> int | None:
    r"""The line of the field that these steps lead to, or of the last one on the way.

    >>> line_of('{"a": 1,\n "b": [3,\n  4]}', ("b", 1))
    3
    """
    position = _skip_space(text, 0)
    try:
        for step in steps:
            found = _find(text, position, step)
            if found is None:
                break
            position = found
    except (ValueError, IndexError, RecursionError):
        return None
    return text.count("\n", 0, position) + 1


def _find(text: str, position: int, step: Step) -> int | None:
    """Where the value of this key or index begins, in the value at a position."""
    scan = JSONDecoder().raw_decode
    is_object = text[position] == "{"
    if not is_object and text[position] != "[":
        return None
    position, index = _skip_space(text, position + 1), 0
    while text[position] not in "]}":
        key: Any = index
        if is_object:
            key, position = scan(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        if key == step:
            return position
        position = _skip_space(text, scan(text, position)[1])
        if text[position] == ",":
            position = _skip_space(text, position + 1)
        index += 1
    return None


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _show(value: object) -> str:
    """A value as the file has it, shortened."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return _shorten(dumps(value, ensure_ascii=False), _LONGEST_VALUE)


def _one_line(message: str) -> str:
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    return _shorten(shown, _LONGEST_MESSAGE)


def _shorten(shown: str, longest: int) -> str:
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
