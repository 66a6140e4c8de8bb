"""Small ONNX models, built node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
helper = onnx.helper
FLOAT = onnx.TensorProto.FLOAT

Shape = Sequence[int | str]


def tensor_info(name: str, shape: Shape | None, element: int = FLOAT) -> Any:
    """The type of an input or output."""
    return helper.make_tensor_value_info(name, element, shape)


def weight(name: str, array: Any) -> Any:
    """A stored tensor."""
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape | None],
    weights: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """A model of nodes; its inputs and outputs hold 32-bit floats."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [tensor_info(name, shape) for name, shape in inputs.items()],
        [tensor_info(name, shape) for name, shape in outputs.items()],
        weights,
        **options,
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("custom", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node; the names of its operands and results are separated by spaces."""
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)
