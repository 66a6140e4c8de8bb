"""Programs exported from PyTorch, as files or in memory (docs/doors.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybridalloc.errors import UsageError
from hybridalloc.problem import CostModel, Problem
from hybridalloc.target import Target

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def from_exported_program(
    exported: ExportedProgram,
    target: Target | str = "tpu-v4i",
    *,
    cost_model: CostModel | str = CostModel.ROOFLINE,
    name: str = "exported",
) -> Problem:
    """The problem of mapping a program that ``torch.export.export`` gave.

    Args:
        exported: Has static shapes, and no control flow; nothing of it is changed.
        target: What it runs on, or its name.
        cost_model: How time is judged: ``roofline`` or ``learned``.
        name: What to call the program.

    Raises:
        ValueError: A shape is not static, or an operator cannot be run without data.
        UsageError: The target or cost model is unknown, its capacity must be given, or
            this is no exported program.
    """
    from torch.export import ExportedProgram

    from hybridalloc.io.torch_export.running import operator_graph

    if not isinstance(exported, ExportedProgram):
        raise UsageError(f"{exported!r:.60}: expected what torch.export.export gives")
    return operator_graph(exported, name).problem(target, cost_model)


def read_exported_program(path: Path, target: Target) -> Problem:
    """The problem of a file that ``torch.export.save`` wrote.

    PyTorch loads it, and such a file may hold pickled objects: read only files that
    you trust.

    Raises:
        InputError: The file cannot be read, or holds no exported program.
        UsageError: PyTorch is not installed.
        ValueError: A shape is not static, or an operator cannot be run without data.
    """
    from hybridalloc.io.torch_export.loading import load

    return from_exported_program(load(path), target, name=path.stem)
