"""Loading an exported program from a file."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import require_readable
from hybridalloc.io.torch_export.quiet import quiet

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_GRAPH = re.compile(r"(.*/)?(models/[^/]+|serialized_exported_program)\.json")
"""What an archive calls the graph of a program, today and before PyTorch 2.8."""


def load(path: Path) -> ExportedProgram:
    """The exported program in a file.

    Raises:
        InputError: The file cannot be read, or holds none.
        UsageError: PyTorch is not installed.
    """
    _require_graph(path)
    try:
        import torch
    except ImportError as error:
        raise UsageError(f'{path} needs PyTorch: pip install "torch>=2.4"') from error
    with quiet():
        try:
            return torch.export.load(str(path))
        except Exception as error:  # there is no telling what a wrong file raises
            lines = str(error).strip().splitlines() or [""]
            raise InputError(
                path,
                f"expected what torch.export.save of PyTorch {torch.__version__} "
                f"writes; loading it gave {type(error).__name__}: {lines[0]}",
            ) from error


def _require_graph(path: Path) -> None:
    """Refuse what is no archive with a graph, in plainer words than PyTorch's.

    Raises:
        InputError: It is none.
    """
    require_readable(path)
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception as error:  # more than BadZipFile, such as NotImplementedError
        raise InputError(
            path, "expected a complete zip archive, as torch.export.save writes it"
        ) from error
    if not any(map(_GRAPH.fullmatch, names)):
        raise InputError(
            path,
            "expected an exported program, as torch.export.save writes it (torch.save "
            "and torch.jit.save write no graph that could be read)",
        )
