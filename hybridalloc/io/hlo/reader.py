"""From a parsed HLO module to a program: instructions, accesses and buffers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hybridalloc.errors import InputError
from hybridalloc.io.collector import collector_paused
from hybridalloc.io.hlo.activation import Activations
from hybridalloc.io.hlo.cost_analysis import CostAnalysis, InstructionCost
from hybridalloc.io.hlo.kind import Kinds
from hybridalloc.io.hlo.module import HloModule
from hybridalloc.io.hlo.opcodes import PASS_THROUGH
from hybridalloc.io.hlo.parser import HloSyntaxError, parse_module
from hybridalloc.io.hlo.schedule import Schedule, Step, flatten
from hybridalloc.io.hlo.shape import ShapeIndex
from hybridalloc.io.hlo.storage import Storage, Value, held_operands
from hybridalloc.program import Access, Buffer, Instruction, Memory, Program
from hybridalloc.target import Target

TRANSPARENT = PASS_THROUGH | {
    *("parameter", "constant", "tuple", "get-tuple-element"),
    *("while", "conditional", "call", "after-all"),
}
"""Opcodes that touch no memory: their values are other instructions' values."""


class InputWarning(UserWarning):
    """Something in the input was not understood, and a stated default was taken."""


@dataclass(frozen=True, eq=False, repr=False)
class HloProgram:
    """A program together with the HLO that it was read from."""

    program: Program
    module: HloModule
    schedule: Schedule
    storage: Storage
    costs: CostAnalysis
    buffer_of: dict[Value, int]
    """The buffer of each first value of a group that shares storage."""

    @cached_property
    def group_named(self) -> dict[str, Value]:
        """The first value of its group, by the name of each value."""
        groups: dict[str, Value] = {}
        for first, values in self.storage.groups.items():
            for value in values:
                groups.setdefault(value_name(self.schedule, value), first)
        return groups

    def buffer(self, value: Value) -> int | None:
        """The buffer that holds a value, if the program has it."""
        first = self.storage.find(value)
        return None if first is None else self.buffer_of.get(first)


@collector_paused()
def parse_hlo(
    text: str, path: Path | str, target: Target, name: str | None = None
) -> HloProgram:
    """The program of a scheduled HLO module's text.

    Args:
        text: The module.
        path: What messages call the text.
        target: Its peak rate turns operations into compute time.
        name: What to call the program; the module's name if not given.

    Raises:
        InputError: The text is not a scheduled HLO module.
    """
    try:
        return read_module(text, name, target.flops_per_second)
    except HloSyntaxError as error:
        raise InputError(path, str(error), error.line) from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, str(error)) from error


def read_module(text: str, name: str | None, flops_per_second: float) -> HloProgram:
    """Read a scheduled HLO module's text as a program.

    Args:
        text: The module.
        name: What to call the program; the module's name if not given.
        flops_per_second: The target's peak rate, for compute times.

    Raises:
        HloSyntaxError: The text is not a scheduled HLO module.
        ValueError: The module says something impossible.
    """
    module = parse_module(text)
    schedule = flatten(module)
    reader = _Reader(module, schedule)
    program = Program(
        name=name or module.name,
        instructions=tuple(reader.instructions(flops_per_second)),
        buffers=tuple(reader.buffers()),
        loops=schedule.loops,
    )
    _warn_of_unknown(reader.costs)
    return HloProgram(
        program, module, schedule, reader.storage, reader.costs, reader.buffer_of
    )


def _warn_of_unknown(costs: CostAnalysis) -> None:
    if costs.unknown:
        warnings.warn(
            f"unknown instructions were taken to cost their bytes alone: "
            f"{', '.join(sorted(costs.unknown))}",
            InputWarning,
            stacklevel=3,
        )


def value_name(schedule: Schedule, value: Value) -> str:
    """A value's name as XLA's dumps write it, such as ``fusion.3{1}``."""
    time, index = value
    name = schedule.steps[time].instruction.name
    return f"{name}{{{','.join(map(str, index))}}}" if index else name


class _Reader:
    def __init__(self, module: HloModule, schedule: Schedule) -> None:
        self.schedule = schedule
        self.storage = Storage(module, schedule)
        self.costs = CostAnalysis(module)
        self.kinds = Kinds(module)
        self.inputs = self._sources()
        self.outputs = self._outputs()
        self.weights = self._weights(Activations(module))
        self.buffer_of = self._numbered_groups()

    def instructions(self, flops_per_second: float) -> Iterator[Instruction]:
        for time, step in enumerate(self.schedule.steps):
            name, kind = step.instruction.name, self.kinds.kind(step.instruction)
            if step.instruction.opcode in TRANSPARENT:
                yield Instruction(name, kind=kind)
                continue
            cost = self.costs.cost(step.instruction)
            seconds = 0 if step.asynchronous else cost.flops / flops_per_second
            accesses = tuple(self._accesses(time, step, cost))
            yield Instruction(name, seconds, accesses, kind=kind)

    def buffers(self) -> Iterator[Buffer]:
        names: Counter[str] = Counter()
        for first in self.buffer_of:
            name = value_name(self.schedule, first)
            names[name] += 1
            shapes = [self.storage.shape(v) for v in self.storage.groups[first]]
            excluded = all(shape.element_count == 1 for shape in shapes) or any(
                shape.memory_space for shape in shapes
            )
            yield Buffer(
                name=name if names[name] == 1 else f"{name}#{names[name]}",
                size=max(shape.size for shape in shapes),
                is_input=first in self.inputs,
                is_output=first in self.outputs,
                cross_program=first not in self.inputs or first in self.weights,
                memory=Memory.SLOW if excluded else Memory.ANY,
            )

    def _sources(self) -> set[Value | None]:
        """The groups that hold a parameter of the program or a constant."""
        return {
            first
            for time, step in enumerate(self.schedule.steps)
            if step.instruction.opcode == "constant" or self._is_parameter(step)
            for first in self._defined(time)
        }

    def _outputs(self) -> set[Value | None]:
        entry = self.schedule.entry
        return self._defined(entry.time[entry.computation.root])

    def _weights(self, activations: Activations) -> set[Value | None]:
        """The groups that hold a parameter which is the same in every run."""
        entry = self.schedule.entry
        return {
            first
            for parameter in entry.computation.parameters
            if not activations.is_activation(parameter)
            for first in self._defined(entry.time[parameter])
        }

    def _numbered_groups(self) -> dict[Value, int]:
        """The groups that the program needs to know of, numbered in schedule order."""
        touched = set(self.outputs)
        for time, step in enumerate(self.schedule.steps):
            if self._is_parameter(step):
                touched |= self._defined(time)
            elif step.instruction.opcode not in TRANSPARENT:
                touched |= self._taken(step) | self._defined(time)
        kept = [first for first in self.storage.groups if first in touched]
        return {first: number for number, first in enumerate(kept)}

    def _is_parameter(self, step: Step) -> bool:
        is_entry = step.frame is self.schedule.entry
        return is_entry and step.instruction.opcode == "parameter"

    def _taken(self, step: Step) -> set[Value | None]:
        """The groups of a step's operands."""
        values = self.storage.operand_values(step)
        return {self.storage.find(value) for _, _, value in values}

    def _defined(self, time: int) -> set[Value | None]:
        """The groups of a step's own values."""
        leaves = self.schedule.steps[time].instruction.shape.leaves
        return {self.storage.find((time, index)) for index, _ in leaves}

    def _accesses(self, time: int, step: Step, cost: InstructionCost) -> list[Access]:
        """Operands in order, then outputs, summed for each buffer."""
        reads, writes = self._traffic(time, step, cost)
        accesses = []
        for first in [*reads, *(v for v in writes if v not in reads)]:
            read, write = reads.get(first), writes.get(first)
            accesses.append(
                Access(
                    self.buffer_of[first],
                    read_bytes=read or 0,
                    # XLA counts some in-place updates as nothing: still writes.
                    write_bytes=write or int(read is not None and write is not None),
                    whole=read is None,
                )
            )
        return accesses

    def _traffic(
        self, time: int, step: Step, cost: InstructionCost
    ) -> tuple[dict[Value, int], dict[Value, int]]:
        """Bytes read and written, by the first value of each group."""
        reads: Counter[Value] = Counter()
        writes: Counter[Value] = Counter()
        for number, index, value in self.storage.operand_values(step):
            first = self.storage.find(value)
            assert first is not None
            reads[first] += self._counted(step, cost.operand_bytes[number], index)
        passed_on = self._passed_on(time, step)
        for index, _ in step.instruction.shape.leaves:
            target = self.storage.find((time, index))
            if target is not None and index not in passed_on:
                writes[target] += self._counted(step, cost.output_bytes, index)
        return reads, writes

    def _counted(
        self, step: Step, counted: dict[ShapeIndex, int], index: ShapeIndex
    ) -> int:
        return 0 if step.asynchronous else counted.get(index, 0)

    def _passed_on(self, time: int, step: Step) -> set[ShapeIndex]:
        """Which arrays of its shape an asynchronous instruction does not write."""
        instruction = step.instruction
        indices = [index for index, _ in instruction.shape.leaves]
        if instruction.opcode.endswith(("-done", "-update")):
            taken = self._taken(step)
            return {i for i in indices if self.storage.find((time, i)) in taken}
        parts = {held_operands(instruction), (1,) if step.called else None}
        return {index for index in indices if index[:1] in parts}
