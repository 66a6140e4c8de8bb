"""Floating-point operations of ONNX's operators.

Counted is what matrix units do, as PyTorch's counter counts it: a product and a sum are
two operations, and what works element by element counts nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from hybridalloc.io.onnx_model.values import Value

Attributes = Mapping[str, object]
Operands = Sequence[Value | None]
"""Those of a node in order; ``None`` where an optional one is left out."""


def flops(
    kind: str, operands: Operands, results: Operands, attributes: Attributes
) -> float:
    """What one run of a node computes.

    Args:
        kind: The operator.
        operands: What it takes.
        results: What it gives.
        attributes: Its attributes by name.

    Raises:
        ValueError: They do not fit the operator.
    """
    formula = _FORMULAS.get(kind)
    if formula is None:
        return 0
    try:
        return formula(operands, results, attributes)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"expected the operands and attributes of {kind}") from error


def _get(values: Operands, number: int) -> Value:
    value = values[number]
    if value is None:
        raise IndexError
    return value


def _matmul(operands: Operands, results: Operands, attributes: Attributes) -> int:
    return 2 * _get(results, 0).count * _get(operands, 0).shape[-1]


def _gemm(operands: Operands, results: Operands, attributes: Attributes) -> int:
    inner = _get(operands, 0).shape[0 if attributes.get("transA") else 1]
    return 2 * _get(results, 0).count * inner


def _convolution(weights: int) -> Callable[[Operands, Operands, Attributes], int]:
    """Of a convolution whose weights are the operand of this number."""

    def count(operands: Operands, results: Operands, attributes: Attributes) -> int:
        kernel = math.prod(_get(operands, weights).shape[1:])
        return 2 * _get(results, 0).count * kernel

    return count


def _transposed(operands: Operands, results: Operands, attributes: Attributes) -> int:
    kernel = math.prod(_get(operands, 1).shape[1:])
    return 2 * _get(operands, 0).count * kernel


def _recurrent(operands: Operands, results: Operands, attributes: Attributes) -> int:
    """Each element of the two weights multiplies once a step and sequence."""
    steps_and_sequences = math.prod(_get(operands, 0).shape[:2])
    weights = _get(operands, 1).count + _get(operands, 2).count
    return 2 * steps_and_sequences * weights


def _attention(operands: Operands, results: Operands, attributes: Attributes) -> int:
    """Queries times keys, and weights times values; keys may come from a cache."""
    cached = results[1] if len(results) > 1 else None
    keys = cached or _get(operands, 1)
    return 2 * keys.shape[-2] * (_get(operands, 0).count + _get(results, 0).count)


def _einsum(operands: Operands, results: Operands, attributes: Attributes) -> int:
    """One product and one sum for each combination of indices."""
    if len(operands) < 2:
        return 0
    equation = attributes["equation"]
    if not isinstance(equation, bytes):
        raise TypeError
    terms = equation.decode().replace(" ", "").partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    for number in range(len(operands)):
        shape = _get(operands, number).shape
        for index, size in zip(_indices(terms[number], len(shape)), shape, strict=True):
            if size != 1 or index not in sizes:  # of size 1 it is repeated
                sizes[index] = size
    return 2 * math.prod(sizes.values())


def _indices(term: str, rank: int) -> list[str]:
    """The indices of an operand of this rank; those of ``...`` are numbers.

    They count from the right, as repeated shapes do.

    >>> _indices("...ij", 4)
    ['2', '1', 'i', 'j']
    """
    before, ellipsis, after = term.partition("...")
    hidden = rank - len(before) - len(after) if ellipsis else 0
    return [*before, *map(str, range(hidden, 0, -1)), *after]


_FORMULAS: dict[str, Callable[[Operands, Operands, Attributes], int]] = {
    "Attention": _attention,
    "Conv": _convolution(1),
    "ConvInteger": _convolution(1),
    "ConvTranspose": _transposed,
    "Einsum": _einsum,
    "GRU": _recurrent,
    "Gemm": _gemm,
    "LSTM": _recurrent,
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "QLinearConv": _convolution(3),
    "QLinearMatMul": _matmul,
    "RNN": _recurrent,
}
