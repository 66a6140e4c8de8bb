"""Loading an ONNX model, and the types of all its values by ONNX's own inference."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import require_readable
from hybridalloc.io.onnx_model.inlining import all_nodes, inlined

if TYPE_CHECKING:
    from onnx import ModelProto

_TERM = rb"[A-Za-z ]*(\.\.\.[A-Za-z ]*)?"
_EQUATION = re.compile(rb"%b(,%b)*(->%b)?" % (_TERM, _TERM, _TERM))
"""Of the operator Einsum."""
EXTRA = 'pip install "onnx>=1.16"'


def load(path: Path) -> ModelProto:
    """The model in a file, without weights that are in others.

    Raises:
        InputError: The file cannot be read, or holds none.
        UsageError: The package onnx is not installed.
    """
    require_readable(path)
    try:
        import onnx
    except ImportError as error:
        raise UsageError(f"{path} needs the package onnx: {EXTRA}") from error
    try:
        model = onnx.load(str(path), format="protobuf", load_external_data=False)
    except Exception as error:  # there is no telling what a wrong file raises
        raise InputError(path, f"expected an ONNX model: {_first(error)}") from error
    if not model.graph.node:  # what many a file that is none decodes as
        raise InputError(path, "expected an ONNX model with at least one node")
    return model


def inferred(model: ModelProto) -> ModelProto:
    """A model in which functions are inlined and values have types, where inferred.

    Raises:
        ValueError: A node does not fit its operands, or functions are without end.
    """
    from onnx import shape_inference

    try:
        flat = inlined(model)
        _require_equations(flat)
        return shape_inference.infer_shapes(
            flat, check_type=True, strict_mode=True, data_prop=True
        )
    except Exception as error:  # several types, and protobuf's own
        raise ValueError(f"expected a correct ONNX model: {_first(error)}") from error


def _require_equations(model: ModelProto) -> None:
    """Refuse equations of which ONNX's inference never comes to an end."""
    for node in all_nodes(model.graph.node):
        if node.op_type != "Einsum" or node.domain not in ("", "ai.onnx"):
            continue
        for attribute in node.attribute:
            if attribute.name == "equation" and not _EQUATION.fullmatch(attribute.s):
                raise ValueError(f"Einsum has the equation {attribute.s!r:.60}")


def _first(error: Exception) -> str:
    """An error's first words."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
