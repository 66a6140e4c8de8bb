"""Plans: what XLA is to be told of an expressible map, in the names of its HLO."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hybridalloc.expressible import placing_order
from hybridalloc.io.hlo.opcodes import PASS_THROUGH
from hybridalloc.io.hlo.reader import HloProgram
from hybridalloc.io.hlo.shape import ShapeIndex
from hybridalloc.io.hlo.storage import Value
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Loop

RENAMED = PASS_THROUGH | {"tuple", "get-tuple-element"}
"""Opcodes whose values are other instructions' values, under other names."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a value is defined: an instruction, and a part of its result."""

    instruction: str
    index: ShapeIndex = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """A prefetch for one operand of the first instruction that uses the buffer."""

    use: str
    operand: int
    index: ShapeIndex
    """Which part of the operand, where that is a tuple."""
    after: str
    """The instruction after which it is issued."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A buffer that is to be in fast memory."""

    buffer: str
    positions: tuple[Position, ...]
    """The values that share it: XLA knows it by one of them."""
    fetches: tuple[Fetch, ...] = ()
    """One for each operand; none if it is produced in fast memory."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What XLA is to carry out; all else stays in slow memory."""

    placements: tuple[Placement, ...]
    """In the order in which places are to be found for them by best fit."""
    cross_program: Placement | None = None
    """What is to be prefetched across programs, and held during the whole run."""


def plan_of(hlo: HloProgram, problem: Problem, memory_map: MemoryMap) -> Plan:
    """The plan of an expressible map.

    Args:
        hlo: What the problem's program was read from.
        problem: Expressible.
        memory_map: As ``project`` hands it back.
    """
    writer = _Writer(hlo)
    allocations = memory_map.allocations
    placements, cross_program = [], None
    for i in placing_order(problem, allocations).order:
        placement = writer.placement(allocations[i])
        if allocations[i].origin is Origin.CROSS_PROGRAM:
            cross_program = placement
        else:
            placements.append(placement)
    return Plan(tuple(placements), cross_program)


class _Writer:
    def __init__(self, hlo: HloProgram) -> None:
        self._hlo, self._steps = hlo, hlo.schedule.steps
        self._values: dict[int, list[Value]] = defaultdict(list)
        for first, values in hlo.storage.groups.items():
            if (buffer := hlo.buffer_of.get(first)) is not None:
                self._values[buffer] += values

    def placement(self, x: Allocation) -> Placement:
        fetches: tuple[Fetch, ...] = ()
        if x.origin is Origin.PREFETCHED:
            fetches = tuple(self._fetches(x))
        name = self._hlo.program.buffers[x.buffer].name
        return Placement(name, tuple(self._positions(x.buffer)), fetches)

    def _positions(self, buffer: int) -> Iterator[Position]:
        for time, index in self._values[buffer]:
            instruction = self._steps[time].instruction
            if instruction.opcode not in RENAMED:
                yield Position(instruction.name, index)

    def _fetches(self, x: Allocation) -> Iterator[Fetch]:
        use = self._steps[self._first_use(x.ready)]
        after = self._steps[x.start - 1].instruction.name
        for number, index, value in self._hlo.storage.operand_values(use):
            if self._hlo.buffer(value) == x.buffer:
                yield Fetch(use.instruction.name, number, index, after)

    def _first_use(self, ready: int) -> int:
        """The instruction that XLA takes for the first to use what is ready then.

        What is ready when a loop begins, is used by the while instruction.
        """
        loop = self._loop_at.get(ready)
        return loop.end if loop else ready

    @cached_property
    def _loop_at(self) -> dict[int, Loop]:
        """The outermost loop that begins at each point."""
        loops = sorted(self._hlo.program.loops, key=lambda loop: loop.end)
        return {loop.start: loop for loop in loops}
