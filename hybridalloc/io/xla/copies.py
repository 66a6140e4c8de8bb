"""The copies in XLA's module after Memory Space Assignment.

Copies are instructions of their own there, so times are matched by the instructions
that the modules before and after have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule
from hybridalloc.io.hlo.opcodes import PASS_THROUGH
from hybridalloc.io.hlo.reader import TRANSPARENT, HloProgram
from hybridalloc.io.hlo.schedule import Step, flatten
from hybridalloc.io.hlo.shape import ShapeIndex
from hybridalloc.memory_map import Slice

_OTHER_SPACES = frozenset((0, 2, 6))
"""HBM, semaphores and scalar memory, by their numbers in layouts."""
_SLICE_RANGE = re.compile(r"\[(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the module after MSA, at points of the schedule before it."""

    buffer: int
    """The buffer whose content it moves."""
    issue: int
    """The latest such point for a prefetch, the earliest for an eviction: points that
    only free instructions separate are alike."""
    due: int
    """The latest such point."""
    earliest_due: int
    position: int
    """Of its first start in the schedule after MSA, which orders the queue."""
    to_fast: bool = True
    slices: tuple[Slice, ...] = ()
    """In order of address, if it is cut."""
    cross_program: bool = False
    """Whether the previous run issued it."""
    source: int | None = None
    """The buffer it reads, where it stands for a copy or slice of the program."""
    replaced: int | None = None
    """The instruction of the program that it stands for, if any."""


class AfterMsa:
    """The module after MSA, matched with the program before it."""

    def __init__(self, hlo: HloProgram, module: HloModule) -> None:
        self.hlo = hlo
        self.module = module
        self.schedule = flatten(module)
        self._time_before = {
            step.instruction.name: time for time, step in enumerate(hlo.schedule.steps)
        }

    def copies(self) -> Iterator[Copy]:
        """Every copy, in no order.

        Raises:
            ValueError: A copy is never awaited, or its buffer cannot be found.
        """
        parts: set[HloInstruction] = set()
        for time, step in enumerate(self.schedule.steps):
            if _is_concatenation(step.instruction):
                parts.update(step.instruction.operands)
                yield self._sliced(time, step)
        for time, step in enumerate(self.schedule.steps):
            instruction = step.instruction
            alone = self._is_slice(instruction) and instruction not in parts
            if alone or instruction.opcode == "copy-done":
                yield self._plain(time, step)

    @cached_property
    def fast_spaces(self) -> frozenset[int]:
        """The memory spaces that copies go to, or come back from.

        Without copies they are those that hold anything, scalars and semaphores apart.
        """
        instructions = [step.instruction for step in self.schedule.steps]
        ends = [
            element.memory_space
            for instruction in instructions
            if instruction.opcode in ("copy-start", "async-start")
            for element in instruction.shape.elements[:2]
        ]
        places = ends or [
            instruction.shape.memory_space for instruction in instructions
        ]
        return frozenset(places) - _OTHER_SPACES

    @cached_property
    def _points(self) -> list[tuple[int, int]]:
        """For each step, the first and last point of the program where it may stand.

        They lie after the instruction before it, and before the instruction after it,
        of those that its computation and the program have in common.
        """
        steps, anchors = self.schedule.steps, self.anchors
        before = {self.schedule.entry: 0}
        first: list[int | None] = []
        for step, anchor in zip(steps, anchors, strict=True):
            first.append(before.get(step.frame))
            if anchor is not None:
                before[step.frame] = self._time_before[step.instruction.name] + 1
        after = {self.schedule.entry: len(self.hlo.program)}
        points = []
        for time in reversed(range(len(steps))):
            frame, low, anchor = steps[time].frame, first[time], anchors[time]
            if anchor is not None:
                after[frame] = anchor
            high = after.get(frame, low or 0)
            points.append((high if low is None else low, high))
        return points[::-1]

    @cached_property
    def anchors(self) -> list[int | None]:
        """For each step that the program has too, where it, or its loop, begins."""
        return [self._anchor_time(step) for step in self.schedule.steps]

    def _anchor_time(self, step: Step) -> int | None:
        name, opcode = step.instruction.name, step.instruction.opcode
        time = self._time_before.get(name)
        if time is None:
            return None
        before = self.hlo.schedule.steps[time]
        if before.called:
            return min(min(frame.time.values()) for frame in before.called)
        same = before.instruction.opcode == opcode and opcode not in TRANSPARENT
        return time if same else None

    def _plain(self, time: int, step: Step) -> Copy:
        """A copy in one part: a prefetch, an eviction, or a slice of the program."""
        done, start = step.instruction, step.instruction.operands[0]
        source = self._source(start.operands[0], start.line)
        replaced = self._replaced(step)
        issued = step.frame.time[start]
        is_last = step.frame.computation.root is done
        awaited = is_last or step.frame.computation.users[done]
        to_fast = done.shape.memory_space in self.fast_spaces
        earliest_due, due = self._points[time]
        if to_fast and not awaited:  # by this run: it serves the next one
            earliest_due = due = len(self.hlo.program)
        return Copy(
            buffer=self._moved(source, replaced),
            issue=self._points[issued][1 if to_fast else 0],
            due=due,
            earliest_due=earliest_due,
            position=issued,
            to_fast=to_fast,
            cross_program="cross_program_prefetch_index" in start.attributes,
            source=source,
            replaced=replaced,
        )

    def _sliced(self, time: int, step: Step) -> Copy:
        """A prefetch in slices, put together by a ``ConcatBitcast``."""
        parts = []
        for done in step.instruction.operands:
            start = done.operands[0]
            cut = self.module.computations[start.called("calls")[0]].root
            ranges = _SLICE_RANGE.findall(cut.attributes.get("slice", ""))
            low = tuple(int(begin) for begin, _ in ranges)
            issued = step.frame.time[start]
            piece = Slice(done.shape.size, self._points[issued][1])
            parts.append((low, piece, issued))
        first = step.instruction.operands[0].operands[0]
        source = self._source(first.operands[0], first.line)
        replaced = self._replaced(step)
        return Copy(
            buffer=self._moved(source, replaced),
            issue=min(part.issue for _, part, _ in parts),
            due=self._points[time][1],
            earliest_due=self._points[time][0],
            position=min(issued for _, _, issued in parts),
            slices=tuple(part for _, part, _ in sorted(parts, key=lambda x: x[0])),
            source=source,
            replaced=replaced,
        )

    def _is_slice(self, instruction: HloInstruction) -> bool:
        if instruction.opcode != "async-done":
            return False
        called = instruction.operands[0].called("calls")
        opcodes = {self.module.computations[name].root.opcode for name in called}
        return not opcodes.isdisjoint(("slice", "dynamic-slice"))

    @cached_property
    def _gone(self) -> frozenset[int]:
        """Instructions of the program that the module after MSA does not have."""
        names = {step.instruction.name for step in self.schedule.steps}
        return frozenset(
            time
            for time, step in enumerate(self.hlo.schedule.steps)
            if step.instruction.name not in names
            and step.instruction.opcode in ("copy", "slice")
        )

    def _replaced(self, step: Step) -> int | None:
        """The program's copy or slice that a copy's result stands for, if any."""
        if not self._gone:
            return None
        for value in self._taken_before(step.frame.computation, step.instruction):
            place = self._time_before.get(_origin(value).name)
            if place in self._gone:
                return place
        return None

    def _taken_before(
        self, computation: Computation, value: HloInstruction
    ) -> Iterator[HloInstruction]:
        """What the users of a value took in its place in the program before MSA.

        MSA makes tuples anew: of these it is the element that their users took.
        """
        for user, number in _uses(computation, value):
            if (time := self._time_before.get(user.name)) is not None:
                taken = self.hlo.schedule.steps[time].instruction.operands
                yield from taken[number : number + 1]
            elif user.opcode == "tuple":
                for whole in map(_origin, self._taken_before(computation, user)):
                    if whole.opcode == "tuple":
                        yield from whole.operands[number : number + 1]

    def _moved(self, source: int, replaced: int | None) -> int:
        """The buffer whose content a copy moves: what it stands for, or its source."""
        return source if replaced is None else self._buffer_at((replaced, ()))

    def _buffer_at(self, value: tuple[int, ShapeIndex]) -> int:
        buffer = self.hlo.buffer(value)
        if buffer is None:
            name = self.hlo.schedule.steps[value[0]].instruction.name
            raise ValueError(f"{name} is in no buffer of the program")
        return buffer

    def _source(self, value: HloInstruction, line: int) -> int:
        """The buffer that a copy reads, through whatever passes the value on."""
        index: ShapeIndex = ()
        while True:
            time = self._time_of(value)
            if time is not None:
                return self._buffer_at((time, index))
            if value.opcode == "get-tuple-element":
                index = (*value.integers("index"), *index)
            elif value.opcode == "tuple" and index:
                value, index = value.operands[index[0]], index[1:]
                continue
            elif not (value.operands and _passes_on(value)):
                raise ValueError(
                    f"line {line}: the copy's source {value.name} is not an "
                    f"instruction of the program"
                )
            value = value.operands[0]

    def _time_of(self, value: HloInstruction) -> int | None:
        if value.opcode == "parameter":
            entry = self.hlo.schedule.entry
            number, parameters = int(value.literal), entry.computation.parameters
            if value in self.module.entry.parameters and number < len(parameters):
                return entry.time[parameters[number]]
        elif value.opcode in TRANSPARENT - {"while", "constant"}:
            return None
        return self._time_before.get(value.name)


def _uses(
    computation: Computation, value: HloInstruction
) -> Iterator[tuple[HloInstruction, int]]:
    """Who takes a value as which operand, through whatever passes it on."""
    for user in computation.users[value]:
        for number, operand in enumerate(user.operands):
            if operand is value and user.opcode in PASS_THROUGH:
                yield from _uses(computation, user)
            elif operand is value:
                yield user, number


def _origin(value: HloInstruction) -> HloInstruction:
    while value.opcode in PASS_THROUGH:
        value = value.operands[0]
    return value


def _is_concatenation(instruction: HloInstruction) -> bool:
    return "ConcatBitcast" in instruction.attributes.get("custom_call_target", "")


def _passes_on(value: HloInstruction) -> bool:
    return (
        value.opcode in PASS_THROUGH
        or value.opcode in ("copy-done", "copy-start", "async-done", "async-start")
        or _is_concatenation(value)
    )
