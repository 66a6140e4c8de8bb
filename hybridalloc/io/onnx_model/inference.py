"""Loading an ONNX model, and the types of all its values by ONNX's own inference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import require_readable

if TYPE_CHECKING:
    from onnx import ModelProto

EXTRA = 'pip install "hybridalloc[onnx]"'


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
        ValueError: A node does not fit its operands.
    """
    from onnx import inliner, shape_inference

    try:
        if model.functions:
            model = inliner.inline_local_functions(model)
        return shape_inference.infer_shapes(
            model, check_type=True, strict_mode=True, data_prop=True
        )
    except Exception as error:  # several types, and protobuf's own
        raise ValueError(f"expected a correct ONNX model: {_first(error)}") from error


def _first(error: Exception) -> str:
    """An error's first words."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
