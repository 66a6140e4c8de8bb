"""Floating-point operations of HLO instructions, as XLA's HloCostAnalysis counts them.

A multiplication and an addition are two operations. What runs inside an instruction (a
fusion, the function of a reduction) counts as often as it runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from hybridalloc.io.hlo.module import HloInstruction, HloModule
from hybridalloc.io.hlo.opcodes import (
    ELEMENTWISE,
    MARKING_TARGETS,
    MOVES,
    TRANSCENDENTAL,
    custom_call_target,
    is_free,
)
from hybridalloc.io.hlo.parser import HloSyntaxError
from hybridalloc.io.hlo.shape import Shape
from hybridalloc.io.hlo.window import parse_window, valid_taps

BAD_ATTRIBUTES = (KeyError, IndexError, ValueError, ZeroDivisionError)
"""What a rule raises when attributes are missing or do not fit the operands."""


def bad_attributes(instruction: HloInstruction, error: Exception) -> HloSyntaxError:
    """Says which instruction it was, and where."""
    return HloSyntaxError(
        instruction.line,
        f"{instruction.name}: the operands and attributes of this "
        f"{instruction.opcode} do not fit ({error!r})",
    )


class FlopCounter:
    """Counts the operations of one module's instructions; remembers computations."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._computations: dict[str, float] = {}
        self.unknown: dict[str, str] = {}
        """Opcodes (of a custom call, its target) without a rule; one instruction of
        each. They count no operations."""

    def flops(self, instruction: HloInstruction) -> float:
        """Operations of one run of an instruction.

        Raises:
            HloSyntaxError: Its attributes do not fit its operands.
        """
        opcode = instruction.opcode
        if opcode in ELEMENTWISE:
            return instruction.shape.element_count
        if opcode in _RULES:
            try:
                # Without elements a difference of counts can be negative.
                return max(0, _RULES[opcode](self, instruction))
            except HloSyntaxError:
                raise
            except BAD_ATTRIBUTES as error:
                raise bad_attributes(instruction, error) from error
        if not (opcode in MOVES or opcode in TRANSCENDENTAL or is_free(instruction)):
            target = custom_call_target(instruction)
            if target not in MARKING_TARGETS:
                self.unknown.setdefault(target or opcode, instruction.name)
        return 0

    def applied(self, instruction: HloInstruction, attribute: str) -> float:
        """Operations of one run of the computation that this attribute names."""
        return sum(map(self._computation, instruction.called(attribute)))

    def custom_access(self, fusion: HloInstruction) -> HloInstruction | None:
        """The gather or scatter that a custom fusion was made for, if it was."""
        if fusion.attributes.get("kind") != "kCustom":
            return None
        fused = self._module.computations[fusion.called("calls")[0]].instructions
        return next((i for i in fused if i.opcode in ("gather", "scatter")), None)

    def _computation(self, name: str) -> float:
        if name not in self._computations:
            instructions = self._module.computations[name].instructions
            self._computations[name] = sum(map(self.flops, instructions))
        return self._computations[name]


def _fusion(counter: FlopCounter, instruction: HloInstruction) -> float:
    access = counter.custom_access(instruction)
    if access is not None:
        return counter.flops(access)
    return counter.applied(instruction, "calls")


def _call(counter: FlopCounter, instruction: HloInstruction) -> float:
    return counter.applied(instruction, "to_apply")


def _map(counter: FlopCounter, instruction: HloInstruction) -> float:
    return counter.applied(instruction, "to_apply") * instruction.shape.element_count


def _dot(counter: FlopCounter, instruction: HloInstruction) -> float:
    left = instruction.operands[0].shape.dims
    contracted = [left[axis] for axis in instruction.integers("lhs_contracting_dims")]
    return 2 * instruction.shape.element_count * math.prod(contracted)


def _ragged_dot(counter: FlopCounter, instruction: HloInstruction) -> float:
    groups = len(instruction.integers("rhs_group_dims"))
    size = math.prod(instruction.shape.dims[:groups]) or 1
    return _dot(counter, instruction) / size


def _convolution(counter: FlopCounter, instruction: HloInstruction) -> float:
    left, right = (operand.shape.dims for operand in instruction.operands)
    output = instruction.shape.dims
    attributes = instruction.attributes
    labels, _, output_labels = attributes["dim_labels"].partition("->")
    left_labels, _, _ = labels.partition("_")
    if len(left_labels) != len(left) or len(output_labels) != len(output):
        raise ValueError(
            f"{instruction.name}: dim_labels {attributes['dim_labels']} do not fit "
            f"the shapes {left}, {right} and {output}"
        )
    taps = 1
    for axis, dimension in enumerate(parse_window(attributes.get("window", "{}"))):
        inputs = left[left_labels.index(str(axis))]
        taps *= valid_taps(dimension, inputs, output[output_labels.index(str(axis))])
    features = left[left_labels.index("f")] // _count(attributes, "feature_group_count")
    batch = left[left_labels.index("b")] // _count(attributes, "batch_group_count")
    return 2 * features * output[output_labels.index("f")] * batch * taps


def _count(attributes: dict[str, str], name: str) -> int:
    return int(attributes.get(name, "1"))


def _first(shape: Shape) -> Shape:
    return next((leaf for _, leaf in shape.leaves), shape)


def _reduce(counter: FlopCounter, instruction: HloInstruction) -> float:
    inputs = instruction.operands[0].shape.element_count
    applications = inputs - _first(instruction.shape).element_count
    return counter.applied(instruction, "to_apply") * applications


def _reduce_window(counter: FlopCounter, instruction: HloInstruction) -> float:
    window = parse_window(instruction.attributes.get("window", "{}"))
    outputs = _first(instruction.shape).element_count
    applications = (math.prod(dimension.size for dimension in window) - 1) * outputs
    wide = [axis for axis, dimension in enumerate(window) if dimension.size != 1]
    padded = [d for d in window if d.pad_low or d.pad_high]
    if len(wide) == len(padded) == 1 and not instruction.shape.is_tuple:
        dimension, span = window[wide[0]], instruction.shape.dims[wide[0]]
        if dimension.pad_low == dimension.pad_high == span - 1 == dimension.size // 2:
            # Each output is the reduction of the whole span: XLA's own count of it.
            applications = outputs // span + span - 1
    return counter.applied(instruction, "to_apply") * applications


def _select_and_scatter(counter: FlopCounter, instruction: HloInstruction) -> float:
    window = parse_window(instruction.attributes.get("window", "{}"))
    selects = math.prod(dimension.size for dimension in window) - 1
    sources = instruction.operands[1].shape.element_count
    return sources * (
        selects * counter.applied(instruction, "select")
        + counter.applied(instruction, "scatter")
    )


def _scatter(counter: FlopCounter, instruction: HloInstruction) -> float:
    updates = instruction.operands[-1].shape.element_count
    return counter.applied(instruction, "to_apply") * updates


def _all_reduce(counter: FlopCounter, instruction: HloInstruction) -> float:
    return sum(leaf.element_count for _, leaf in instruction.shape.leaves)


def _sort(counter: FlopCounter, instruction: HloInstruction) -> float:
    elements = instruction.operands[0].shape.element_count
    return elements * (elements - 1).bit_length() if elements else 0


def _fft(counter: FlopCounter, instruction: HloInstruction) -> float:
    lengths = instruction.integers("fft_length")
    depth = math.prod(max(length.bit_length() - 1, 0) for length in lengths)
    return 8 * depth * instruction.operands[0].shape.element_count


def _cholesky(counter: FlopCounter, instruction: HloInstruction) -> float:
    shape = instruction.operands[0].shape
    return shape.element_count * shape.dims[-1] // 3


def _triangular_solve(counter: FlopCounter, instruction: HloInstruction) -> float:
    matrix, right = (operand.shape for operand in instruction.operands)
    return 2 * matrix.dims[-1] * right.element_count


_RULES: dict[str, Callable[[FlopCounter, HloInstruction], float]] = {
    "all-reduce": _all_reduce,
    "call": _call,
    "cholesky": _cholesky,
    "convolution": _convolution,
    "dot": _dot,
    "fft": _fft,
    "fusion": _fusion,
    "map": _map,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "scaled-dot": _dot,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
}
