"""ONNX models, as files or in memory (docs/doors.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybridalloc.problem import CostModel, Problem
from hybridalloc.target import Target

if TYPE_CHECKING:
    from onnx import ModelProto


def from_onnx(
    model: ModelProto,
    target: Target | str = "tpu-v4i",
    *,
    cost_model: CostModel | str = CostModel.ROOFLINE,
    name: str = "model",
) -> Problem:
    """The problem of mapping an ONNX model.

    Args:
        model: Has static shapes, and no subgraphs; its weights may be in other files,
            which are not read. Nothing of it is changed.
        target: What it runs on, or its name.
        cost_model: How time is judged: ``roofline`` or ``learned``.
        name: What to call the program.

    Raises:
        ValueError: A value has no static shape, or the model is wrong.
        UsageError: The target or cost model is unknown, or its capacity must be given.
    """
    from hybridalloc.io.onnx_model.inference import inferred
    from hybridalloc.io.onnx_model.reading import operator_graph

    return operator_graph(inferred(model), name).problem(target, cost_model)


def read_onnx(path: Path, target: Target) -> Problem:
    """The problem of a model file; weights in other files are not read.

    Raises:
        InputError: The file cannot be read, or holds no model.
        UsageError: The package onnx is not installed.
        ValueError: A value has no static shape, or the model is wrong.
    """
    from hybridalloc.io.onnx_model.inference import load

    return from_onnx(load(path), target, name=path.stem)
