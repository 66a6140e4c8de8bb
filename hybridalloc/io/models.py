"""Files in which machine-learning frameworks keep models, by how their names end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hybridalloc.io.files import is_folder
from hybridalloc.io.onnx_model import read_onnx
from hybridalloc.io.torch_export import read_exported_program
from hybridalloc.problem import Problem
from hybridalloc.target import Target

READERS: dict[str, Callable[[Path, Target], Problem]] = {
    ".pt2": read_exported_program,
    ".pt": read_exported_program,
    ".pth": read_exported_program,
    ".onnx": read_onnx,
}
"""The reader for each suffix; one loads its framework only as it reads."""

PROGRAM_SUFFIXES = (".pt2", ".onnx")
"""Of these, the ones after which a file always holds a program, not only weights."""


def is_model(path: Path) -> bool:
    """Whether a file's name says that a framework keeps a model in it.

    Raises:
        InputError: The operating system does not tell whether there is a folder.
    """
    return path.suffix.lower() in READERS and not is_folder(path)


def read_model(path: Path, target: Target) -> Problem:
    """The problem of a file for which ``is_model`` holds.

    Raises:
        InputError: The file cannot be read, or holds no model.
        UsageError: The framework is not installed.
        ValueError: The model has no program with known sizes.
    """
    return READERS[path.suffix.lower()](path, target)
