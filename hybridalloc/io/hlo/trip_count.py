"""How often a while loop runs, where its text tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule

_FLIPPED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE", "EQ": "EQ"}
_KEEPING = ("copy", "bitcast", "convert", "reshape", "copy-done", "copy-start")
"""Opcodes whose output, if a scalar, has the value of their operand."""

MAX_DEPTH = 12
"""A counter is a few instructions away from the loop's tuple, or not one at all."""


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A scalar in terms of the loop's state: element ``element`` plus ``offset``."""

    element: int | None
    """Which element of the loop's tuple; ``None`` for a constant."""
    offset: int


def trip_count(module: HloModule, loop: HloInstruction) -> int | None:
    """The number of trips of a while instruction, or ``None`` if it is not known.

    Known are counters: an element of the loop's tuple that starts at a constant,
    changes by a constant in each trip, and is compared with a constant.
    """
    if loop.known_trip_count is not None:
        return loop.known_trip_count
    condition = module.computations[loop.called("condition")[0]]
    body = module.computations[loop.called("body")[0]]
    comparison = _comparison(module, condition)
    if comparison is None:
        return None
    counter, direction, bound = comparison
    start = _initial(loop, counter.element)
    if bound.element is not None:
        if _step(module, body, bound.element) != 0:
            return None
        limit = _initial(loop, bound.element)
    else:
        limit = 0
    if counter.element is None or start is None or limit is None:
        return None
    step = _step(module, body, counter.element)
    if step is None:
        return None
    return _trips(start + counter.offset, step, direction, limit + bound.offset)


def _trips(start: int, step: int, direction: str, bound: int) -> int | None:
    """Trips of ``for (i = start; i <direction> bound; i += step)``.

    >>> _trips(0, 2, "LT", 5), _trips(7, -1, "GE", 0), _trips(0, 1, "GT", 9)
    (3, 8, 0)
    """
    if direction in ("GT", "GE"):
        direction = _FLIPPED[direction]
        start, step, bound = -start, -step, -bound
    if direction == "NE":
        if step == 0 or (bound - start) % step or (bound - start) // step < 0:
            return None
        return (bound - start) // step
    if direction == "LE":
        direction, bound = "LT", bound + 1
    if direction != "LT":
        return None
    if start >= bound:
        return 0
    return -(-(bound - start) // step) if step > 0 else None


def _comparison(
    module: HloModule, condition: Computation
) -> tuple[_Scalar, str, _Scalar] | None:
    """The condition's root as (counter, direction, bound)."""
    root, arguments = condition.root, None
    while root.opcode in ("copy", "bitcast"):
        root = root.operands[0]
    if root.opcode == "fusion":
        inner = module.computations[root.called("calls")[0]]
        arguments = [_scalar(module, operand) for operand in root.operands]
        root = inner.root
    if root.opcode != "compare":
        return None
    left, right = (_scalar(module, x, arguments) for x in root.operands[:2])
    direction = root.attributes.get("direction", "")
    if left is None or right is None or direction not in _FLIPPED:
        return None
    if left.element is None:
        left, right, direction = right, left, _FLIPPED[direction]
    return left, direction, right


def _scalar(
    module: HloModule,
    value: HloInstruction,
    arguments: list[_Scalar | None] | None = None,
    depth: int = MAX_DEPTH,
) -> _Scalar | None:
    """A value as an element of the loop's tuple plus a constant, if it is one.

    Args:
        module: The module, for fused computations.
        value: The value.
        arguments: Within a fused computation, what its parameters are.
        depth: How far to look.
    """
    if depth == 0:
        return None
    match value.opcode:
        case "constant":
            literal = re.fullmatch(r"\s*(-?\d+)\s*", value.literal)
            return _Scalar(None, int(literal[1])) if literal else None
        case "get-tuple-element" if value.operands[0].opcode == "parameter":
            is_state = arguments is None  # and not a tuple that a fusion takes
            return _Scalar(value.integers("index")[0], 0) if is_state else None
        case "parameter" if arguments is not None:
            return arguments[int(value.literal)]
        case "add" | "subtract":
            left, right = (
                _scalar(module, x, arguments, depth - 1) for x in value.operands[:2]
            )
            return _sum(left, right, -1 if value.opcode == "subtract" else 1)
        case "fusion":
            inner = module.computations[value.called("calls")[0]]
            given = [_scalar(module, x, arguments, depth - 1) for x in value.operands]
            return _scalar(module, inner.root, given, depth - 1)
        case opcode if opcode in _KEEPING and value.operands:
            return _scalar(module, value.operands[0], arguments, depth - 1)
        case _:
            return None


def _sum(left: _Scalar | None, right: _Scalar | None, sign: int) -> _Scalar | None:
    if left is None or right is None:
        return None
    if right.element is None:
        return _Scalar(left.element, left.offset + sign * right.offset)
    if left.element is None and sign > 0:
        return _Scalar(right.element, right.offset + left.offset)
    return None


def _step(module: HloModule, body: Computation, element: int) -> int | None:
    """By how much an element of the loop's tuple changes in one trip."""
    if body.root.opcode != "tuple" or element >= len(body.root.operands):
        return None
    after = _scalar(module, body.root.operands[element])
    return after.offset if after is not None and after.element == element else None


def _initial(loop: HloInstruction, element: int | None) -> int | None:
    """The constant with which an element of the loop's tuple starts."""
    state = loop.operands[0]
    if element is None or state.opcode != "tuple" or element >= len(state.operands):
        return None
    value = state.operands[element]
    while value.opcode in _KEEPING and value.operands:
        value = value.operands[0]
    literal = re.fullmatch(r"\s*(-?\d+)\s*", value.literal)
    return int(literal[1]) if value.opcode == "constant" and literal else None
