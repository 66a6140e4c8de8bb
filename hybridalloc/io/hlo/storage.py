"""Which values of a flattened module share storage: one buffer for each group.

A value is one array that a step defines: a step and an index into its shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule
from hybridalloc.io.hlo.opcodes import ASYNCHRONOUS, PASS_THROUGH
from hybridalloc.io.hlo.parser import HloSyntaxError
from hybridalloc.io.hlo.schedule import Frame, Schedule, Step
from hybridalloc.io.hlo.shape import Shape, ShapeIndex

Value = tuple[int, ShapeIndex]
"""The step that defines it, and which array of its shape it is."""

STORELESS = frozenset({"token", "opaque"})


@dataclass(frozen=True, slots=True)
class OperandUse:
    """A value taken as an operand."""

    time: int
    operand: int
    index: ShapeIndex
    """Which array of the operand's shape."""


class Storage:
    """The buffers of a flattened module."""

    def __init__(self, module: HloModule, schedule: Schedule) -> None:
        self.module = module
        self.schedule = schedule
        self._parent: dict[Value, Value] = {}
        for time, step in enumerate(schedule.steps):
            for index, leaf in step.instruction.shape.leaves:
                if leaf.dtype not in STORELESS:
                    self._parent[time, index] = (time, index)
        for time, step in enumerate(schedule.steps):
            try:
                for left, right in self._aliases(time, step):
                    self._unite(left, right)
            except IndexError as error:
                raise HloSyntaxError(
                    step.instruction.line,
                    f"{step.instruction.name}: the shape or the operands do not fit "
                    f"the opcode {step.instruction.opcode}",
                ) from error
        self._unite_donated()

    def find(self, value: Value) -> Value | None:
        """The first value of its group; ``None`` for what takes no storage."""
        if value not in self._parent:
            return None
        root = value
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[value] != root:
            self._parent[value], value = root, self._parent[value]
        return root

    @cached_property
    def groups(self) -> dict[Value, list[Value]]:
        """Values that share storage, by the first of them in the schedule."""
        groups: dict[Value, list[Value]] = defaultdict(list)
        for value in self._parent:
            root = self.find(value)
            assert root is not None
            groups[root].append(value)
        return dict(sorted(groups.items()))

    def shape(self, value: Value) -> Shape:
        """The array shape of a value."""
        time, index = value
        return self.schedule.steps[time].instruction.shape.at(index)

    def operand_values(self, step: Step) -> Iterator[tuple[int, ShapeIndex, Value]]:
        """The arrays that a step takes: (operand number, index, value)."""
        for number, time in enumerate(step.operand_times):
            shape = self.schedule.steps[time].instruction.shape
            for index, leaf in shape.leaves:
                if leaf.dtype not in STORELESS:
                    yield number, index, (time, index)

    def _unite(self, left: Value, right: Value) -> None:
        first, second = self.find(left), self.find(right)
        if first is not None and second is not None:
            first, second = min(first, second), max(first, second)
            self._parent[second] = first

    def _unite_donated(self) -> None:
        entry = self.schedule.entry
        root = entry.time[entry.computation.root]
        for output, parameter, index in self.module.input_output_aliases:
            if parameter < len(entry.computation.parameters):
                time = entry.time[entry.computation.parameters[parameter]]
                self._unite((root, output), (time, index))

    def _aliases(self, time: int, step: Step) -> Iterator[tuple[Value, Value]]:
        """Pairs of values that share storage because of one step."""
        instruction, operands = step.instruction, list(step.operand_times)
        opcode = instruction.opcode
        if opcode == "tuple":
            for position, operand in enumerate(operands):
                yield from self._same((time, (position,)), (operand, ()))
        elif opcode == "get-tuple-element":
            element = instruction.integers("index")
            yield from self._same((time, ()), (operands[0], element))
        elif opcode in PASS_THROUGH and operands:
            yield from self._same((time, ()), (operands[0], ()))
        elif opcode in ("while", "conditional", "call"):
            yield from self._call_aliases(time, step)
        elif opcode == "send" or opcode.endswith(ASYNCHRONOUS):
            yield from self._async_aliases(time, step)
        for output, number, index in in_place_pairs(self.module, instruction):
            if number < len(operands):
                yield from self._same((time, output), (operands[number], index))

    def _same(self, left: Value, right: Value) -> Iterator[tuple[Value, Value]]:
        """The pairs of arrays of two values of one shape, which may be tuples."""
        for index, _ in self.shape(left).leaves:
            yield (left[0], left[1] + index), (right[0], right[1] + index)

    def _call_aliases(self, time: int, step: Step) -> Iterator[tuple[Value, Value]]:
        operands = list(step.operand_times)
        if step.instruction.opcode == "while":
            yield from self._same((time, ()), (operands[0], ()))
        for number, frame in enumerate(step.called):
            is_condition = step.instruction.opcode == "while" and number == 0
            if not is_condition:
                root = frame.time[frame.computation.root]
                yield from self._same((time, ()), (root, ()))
            if step.instruction.opcode == "conditional":
                arguments = operands[number + 1 : number + 2]
            else:
                arguments = operands
            yield from self._argument_aliases(frame, arguments)

    def _argument_aliases(
        self, frame: Frame, arguments: list[int]
    ) -> Iterator[tuple[Value, Value]]:
        parameters = frame.computation.parameters
        for parameter, argument in zip(parameters, arguments, strict=False):
            yield from self._same((frame.time[parameter], ()), (argument, ()))

    def _async_aliases(self, time: int, step: Step) -> Iterator[tuple[Value, Value]]:
        """An asynchronous start holds its operands beside its result until done."""
        instruction, operands = step.instruction, list(step.operand_times)
        if instruction.opcode.endswith("-update") and operands:
            yield from self._same((time, ()), (operands[0], ()))
        elif instruction.opcode.endswith("-done") and operands:
            yield from self._result_aliases(time, operands[0])
        held = held_operands(instruction)
        if held is not None:
            yield from self._held_aliases(time, held, operands)
        for frame in step.called:
            root = frame.time[frame.computation.root]
            yield from self._same((root, ()), (time, (1,)))
            yield from self._argument_aliases(frame, operands)

    def _result_aliases(self, done: int, start: int) -> Iterator[tuple[Value, Value]]:
        """What an asynchronous done returns is a part of its operand."""
        opcode = self.schedule.steps[start].instruction.opcode
        is_tuple = self.shape((start, ())).is_tuple
        if opcode == "recv":  # returns the data and a token
            yield (done, (0,)), (start, (0,))
        elif opcode == "all-reduce-start" or not is_tuple:
            yield from self._same((done, ()), (start, ()))
        else:
            result = (0,) if opcode == "copy-start" else (1,)
            yield from self._same((done, ()), (start, result))

    def _held_aliases(
        self, time: int, held: ShapeIndex, operands: list[int]
    ) -> Iterator[tuple[Value, Value]]:
        if self.shape((time, held)).is_tuple:
            for number, operand in enumerate(operands):
                yield from self._same((operand, ()), (time, (*held, number)))
        else:
            yield from self._same((time, held), (operands[0], ()))


def held_operands(instruction: HloInstruction) -> ShapeIndex | None:
    """Where in its shape an asynchronous start holds its operands, if it does."""
    opcode, elements = instruction.opcode, instruction.shape.elements
    is_start = opcode == "send" or opcode.endswith("-start")
    if not is_start or opcode == "all-reduce-start" or len(elements) < 2:
        return None
    return (1,) if opcode == "copy-start" else (0,)


def in_place_pairs(
    module: HloModule, instruction: HloInstruction
) -> Iterator[tuple[ShapeIndex, int, ShapeIndex]]:
    """Outputs that are written over an operand: (output, operand, index in it).

    As XLA's AliasInfo::GetInPlaceInputOutputPairs: updates of a slice, scatters, some
    collectives, fusions with such a root, and what an instruction itself declares.
    """
    yield from instruction.operand_aliases
    count = len(instruction.operands)
    match instruction.opcode:
        case "dynamic-update-slice" | "set-dimension-size":
            yield (), 0, ()
        case "all-reduce-start" | "scatter" as opcode:
            for number in range((count - 1) // 2 if opcode == "scatter" else count):
                yield ((number,) if instruction.shape.is_tuple else ()), number, ()
        case "ragged-all-to-all":
            yield from _given_outputs(instruction, ())
        case "collective-permute" if "slice_sizes" in instruction.attributes:
            yield from _given_outputs(instruction, ())
        case "collective-permute-start" if "slice_sizes" in instruction.attributes:
            yield from _given_outputs(instruction, (1,))
        case "fusion":
            for name in instruction.called("calls"):
                yield from _fusion_pairs(module, module.computations[name])


def _given_outputs(
    instruction: HloInstruction, output: ShapeIndex
) -> Iterator[tuple[ShapeIndex, int, ShapeIndex]]:
    """A collective whose second operand is what it writes into."""
    for index, _ in instruction.shape.at(output).leaves:
        yield (*output, *index), 1, index


def _fusion_pairs(
    module: HloModule, computation: Computation
) -> Iterator[tuple[ShapeIndex, int, ShapeIndex]]:
    root = computation.root
    outputs: list[tuple[ShapeIndex, HloInstruction]] = [((), root)]
    if root.opcode == "tuple":
        outputs = [((i,), operand) for i, operand in enumerate(root.operands)]
    for output, value in outputs:
        updated = _through_bitcasts(value)
        for inner, number, _ in in_place_pairs(module, updated):
            target = _through_bitcasts(updated.operands[number])
            if inner == () and target.opcode == "parameter":
                yield output, int(target.literal), ()


def _through_bitcasts(value: HloInstruction) -> HloInstruction:
    while value.opcode == "bitcast":
        value = value.operands[0]
    return value
