"""What an HLO module must keep to, for the rest of the reader to make sense of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule
from hybridalloc.io.hlo.opcodes import PASS_THROUGH
from hybridalloc.io.hlo.shape import Shape, ShapeIndex

Fault = tuple[int, str]
"""A line, and what is wrong with it."""

_CALLS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "while": (("condition",), ("body",)),
    "fusion": (("calls",),),
    "call": (("to_apply", "calls"),),
    "call-start": (("to_apply", "calls"),),
    "async-start": (("calls",),),
    "conditional": (
        ("branch_computations", "true_computation"),
        ("branch_computations", "false_computation"),
    ),
}
"""Attributes that an instruction cannot do without, as alternatives."""

_OPERANDS: Mapping[str, int] = {
    **dict.fromkeys(("bitcast", "convert", "copy", "get-tuple-element"), 1),
    **dict.fromkeys(("conditional", "domain", "opt-barrier", "reshape", "while"), 1),
    **dict.fromkeys(("add", "add-dependency", "compare", "subtract"), 2),
    "dynamic-update-slice": 2,
    "scatter": 3,
}
"""The fewest operands, of those opcodes that aliasing and trip counts look into."""


def faults(module: HloModule, header_line: int) -> Iterator[Fault]:
    """Everything that is wrong with a module; nothing if all is well.

    Later checks rely on earlier ones: only the first fault is sure to be one.

    Args:
        module: The module.
        header_line: The line that says which parameters are donated.
    """
    for computation in module.computations.values():
        yield from _parameter_faults(computation)
        for instruction in computation.instructions:
            yield from _operand_faults(instruction)
            yield from _name_faults(module, instruction)
    yield from _cycles(module)
    for computation in module.computations.values():
        for instruction in computation.instructions:
            yield from _call_faults(module, instruction)
    yield from _donation_faults(module, header_line)


def _parameter_faults(computation: Computation) -> Iterator[Fault]:
    for number, parameter in enumerate(computation.parameters):
        if int(parameter.literal) != number:
            yield (
                parameter.line,
                f"expected parameter {number} of {computation.name} next, got "
                f"parameter {parameter.literal}",
            )


def _operand_faults(instruction: HloInstruction) -> Iterator[Fault]:
    name, operands = instruction.name, instruction.operands
    least = _OPERANDS.get(instruction.opcode, 0)
    if len(operands) < least:
        yield (
            instruction.line,
            f"{name}: expected {least} or more operands, got {len(operands)}",
        )
    elif instruction.opcode == "get-tuple-element" and not _has_element(instruction):
        yield (
            instruction.line,
            f"{name}: expected the index of an element of {operands[0].name}, got "
            f"{instruction.attributes.get('index')}",
        )
    elif _passed_on(instruction).structure != instruction.shape.structure:
        yield instruction.line, f"{name}: its shape is not that of what it passes on"


def _passed_on(instruction: HloInstruction) -> Shape:
    """The shape of the values that an instruction gives other names."""
    shapes = tuple(operand.shape for operand in instruction.operands)
    match instruction.opcode:
        case "tuple":
            return Shape("tuple", elements=shapes)
        case "get-tuple-element":
            return shapes[0].at(instruction.integers("index"))
        case opcode if opcode in PASS_THROUGH:
            return shapes[0]
    return instruction.shape


def _name_faults(module: HloModule, instruction: HloInstruction) -> Iterator[Fault]:
    for alternatives in _CALLS.get(instruction.opcode, ()):
        if not instruction.called(*alternatives):
            yield (
                instruction.line,
                f"{instruction.name}: expected the attribute "
                f"{' or '.join(alternatives)}",
            )
    for name in instruction.callees:
        if name not in module.computations:
            yield (
                instruction.line,
                f"{instruction.name} calls {name!r}, which is not defined",
            )


def _cycles(module: HloModule) -> Iterator[Fault]:
    """Computations that call themselves, directly or through others."""
    calls = {
        computation.name: [
            (instruction.line, name)
            for instruction in computation.instructions
            for name in instruction.callees
        ]
        for computation in module.computations.values()
    }
    done: set[str] = set()
    for first in calls:
        path = {first: iter(calls[first])}  # in order of the call
        while path:
            caller = next(reversed(path))
            line, name = next(path[caller], (0, ""))
            if not name:
                done.add(caller)
                del path[caller]
            elif name in path:
                yield line, f"computation {name} calls itself"
            elif name not in done:
                path[name] = iter(calls[name])


def _call_faults(module: HloModule, instruction: HloInstruction) -> Iterator[Fault]:
    """Arguments that do not fit parameters, and results that do not fit roots."""
    name, line = instruction.name, instruction.line
    if instruction.opcode not in ("call", "conditional", "fusion", "while"):
        return
    called = [module.computations[it] for it in instruction.callees]
    shapes = [operand.shape for operand in instruction.operands]
    arguments = [shapes] * len(called)
    if instruction.opcode == "conditional":
        arguments = [[shape] for shape in shapes[1:]]
    if len(arguments) != len(called):
        yield line, f"{name}: {len(arguments)} arguments for {len(called)} branches"
        return
    for computation, given in zip(called, arguments, strict=True):
        taken = [parameter.shape.structure for parameter in computation.parameters]
        if taken != [shape.structure for shape in given]:
            yield line, f"{name}: its operands do not fit what {computation.name} takes"
        if computation.name in instruction.called("condition"):
            continue
        if computation.root.shape.structure != instruction.shape.structure:
            yield line, f"{name}: its shape is not what {computation.name} returns"


def _donation_faults(module: HloModule, header_line: int) -> Iterator[Fault]:
    parameters = module.entry.parameters
    for output, number, index in module.input_output_aliases:
        if not (
            number < len(parameters)
            and _has(parameters[number].shape, index)
            and _has(module.entry.root.shape, output)
        ):
            yield (
                header_line,
                f"input_output_alias: output {output} or parameter {number} {index} "
                f"does not exist",
            )


def _has_element(instruction: HloInstruction) -> bool:
    index = instruction.integers("index")
    return len(index) == 1 and _has(instruction.operands[0].shape, index)


def _has(shape: Shape, index: ShapeIndex) -> bool:
    for position in index:
        if not 0 <= position < len(shape.elements):
            return False
        shape = shape.elements[position]
    return True
