"""The values of an ONNX model: their element types, shapes and sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import TensorProto, ValueInfoProto

Shape = tuple[int, ...]

BITS = {
    **dict.fromkeys(("INT2", "UINT2"), 2),
    **dict.fromkeys(("FLOAT4E2M1", "INT4", "UINT4"), 4),
    **dict.fromkeys(("FLOAT6E2M3", "FLOAT6E3M2"), 6),
    **dict.fromkeys(("BOOL", "INT8", "UINT8", "FLOAT8E8M0"), 8),
    **dict.fromkeys(("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ"), 8),
    **dict.fromkeys(("FLOAT8E5M2", "FLOAT8E5M2FNUZ"), 8),
    **dict.fromkeys(("BFLOAT16", "FLOAT16", "INT16", "UINT16"), 16),
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 32),
    **dict.fromkeys(("COMPLEX64", "DOUBLE", "INT64", "UINT64"), 64),
    "COMPLEX128": 128,
}
"""Bits of an element of each type (``TensorProto.DataType`` in onnx.proto).

What NumPy makes of a type depends on the version of the package onnx, and is no
measure: bfloat16 was a 32-bit float once.
"""

HINT = (
    "expected static shapes: python -m onnxruntime.tools.make_dynamic_shape_fixed "
    "fixes those of the inputs, or export the model with them"
)


@dataclass(frozen=True, slots=True)
class Value:
    """A dense tensor that a node takes or gives."""

    name: str
    shape: Shape
    size: int
    """Bytes."""

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


def typed_value(info: ValueInfoProto) -> Value:
    """A value of a known type.

    Raises:
        ValueError: It is no dense tensor of a static shape and numbers.
    """
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        found = kind or "value without a type"
        raise ValueError(f"value {info.name}: expected a tensor, found a {found}")
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        raise ValueError(f"value {info.name}: its shape is not known ({HINT})")
    for axis, dim in enumerate(tensor.shape.dim):
        if not dim.HasField("dim_value"):
            said = repr(dim.dim_param) if dim.dim_param else "unknown"
            raise ValueError(
                f"value {info.name}: dimension {axis} is {said}, not a number ({HINT})"
            )
    shape = tuple(dim.dim_value for dim in tensor.shape.dim)
    return _value(info.name, shape, tensor.elem_type)


def stored_value(tensor: TensorProto) -> Value:
    """The value of a stored tensor, whose data may be in another file.

    Raises:
        ValueError: It is no tensor of numbers.
    """
    return _value(tensor.name, tuple(tensor.dims), tensor.data_type)


def _value(name: str, shape: Shape, element: int) -> Value:
    if any(size < 0 for size in shape):
        raise ValueError(f"value {name}: shape {list(shape)} has a negative dimension")
    size = -(-math.prod(shape) * _bits(name, element) // 8)
    return Value(name, shape, size)


def _bits(name: str, element: int) -> int:
    """The bits of one element."""
    from onnx import TensorProto

    try:
        kind = TensorProto.DataType.Name(element)
    except ValueError:
        kind = f"number {element}"
    if kind not in BITS:
        raise ValueError(
            f"value {name}: expected numbers, its elements are of type {kind}"
        )
    return BITS[kind]
