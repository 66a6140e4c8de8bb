"""What a workload folder tells of how it was captured."""

from __future__ import annotations

import json
from pathlib import Path

from hybridalloc.errors import InputError
from hybridalloc.io.files import read_text

CAPTURE = "capture.json"
"""The file that tells it, where there is one."""


def captured_target(path: Path) -> str | None:
    """The name of the target that a workload was compiled for, if its folder tells.

    Args:
        path: The folder, or anything else that can be read.

    Raises:
        InputError: The folder's file does not tell what it should.
    """
    file = path / CAPTURE
    if not file.is_file():
        return None
    try:
        target = json.loads(read_text(file))["target"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(file, "expected JSON with a target") from error
    if not isinstance(target, str):
        raise InputError(file, f"expected the name of a target, got {target!r}")
    return target
