"""Targets by name, built in or in a TOML file (``docs/format.md``, Target file)."""

from __future__ import annotations

import json
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import read_text
from hybridalloc.target import TARGETS, Target

_SYNTAX = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)")


def get_target(name: str) -> Target:
    """The built-in target of this name, or the one in this TOML file.

    Raises:
        UsageError: There is no such target.
        InputError: The file cannot be read or does not describe a target.
    """
    if name in TARGETS:
        return TARGETS[name]
    if name.endswith(".toml"):
        return read_target(name)
    close = get_close_matches(name, TARGETS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(TARGETS)}"
    raise UsageError(f"unknown target {name!r}; {hint} (or give a .toml file)")


def read_target(path: Path | str) -> Target:
    """Read a TOML file with the fields of a problem file's target.

    The fast memory may lack a capacity, which is then to be given.

    Raises:
        InputError: The file cannot be read or does not describe a target.
    """
    # Loads pydantic, which built-in targets do without.
    from hybridalloc.io.json_format.decoding import decode_target
    from hybridalloc.io.json_format.fault import input_error
    from hybridalloc.io.json_format.records import TargetRecord

    # As JSON, where arrays become tuples; what JSON lacks, such as dates, is text.
    fields = json.dumps(_parse(path), default=str)
    try:
        return decode_target(TargetRecord.model_validate_json(fields))
    except ValueError as error:
        raise input_error(path, "", error) from error


def _parse(path: Path | str) -> dict[str, Any]:
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise InputError(path, "expected a target, this nests too deeply") from error
    except ValueError as error:
        syntax = _SYNTAX.fullmatch(str(error))
        if syntax is None:
            raise InputError(path, f"expected TOML: {error}") from error
        message = f"{syntax['what']} (column {syntax['column']})"
        raise InputError(path, message, int(syntax["line"])) from error
