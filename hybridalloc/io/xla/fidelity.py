"""How well a program read from HLO agrees with what the compiler printed of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from hybridalloc.benefit import (
    LOOP_FACTOR,
    Site,
    constant_definition,
    memory_boundedness,
    rounding_tolerance,
)
from hybridalloc.io.hlo.reader import HloProgram
from hybridalloc.io.hlo.schedule import Step
from hybridalloc.io.hlo.storage import OperandUse, Value
from hybridalloc.io.xla.copies import AfterMsa
from hybridalloc.io.xla.dump import XlaDump
from hybridalloc.io.xla.rows import BufferRow
from hybridalloc.memory_map import MemoryMap
from hybridalloc.target import Target

PASSING = frozenset({"tuple", "while", "conditional", "call"})
"""Instructions whose uses of a buffer pass it on and gain it nothing."""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Rows of ``bufferinfo`` and how many of them the program agrees with."""

    bufferinfo_rows: int
    bufferinfo_matched: int
    """Same size, definition time and use times."""
    benefit_rows: int
    benefit_within_1pct: int
    """Matched, and the same benefit to within 1 % or the rounding of float32."""


def fidelity(dump: XlaDump, target: Target) -> Fidelity | None:
    """Compare a dump's program with its ``bufferinfo``, if it has one.

    Args:
        dump: The dump.
        target: Gives the bandwidths and the peak rate of the benefits.
    """
    if dump.buffer_rows is None:
        return None
    reading = _Reading(dump.hlo, target)
    matched = [row for row in dump.buffer_rows if reading.matches(row)]
    close = [row for row in matched if reading.agrees_on_benefit(row)]
    rows = len(dump.buffer_rows)
    return Fidelity(rows, len(matched), rows, len(close))


def reads_despite_copy(after: AfterMsa, memory_map: MemoryMap) -> tuple[int, int]:
    """How XLA's layouts disagree with a map on where operands are read.

    Returns:
        Operands that XLA reads from slow memory although the map has them in fast
        memory, and the reverse.
    """
    covered: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for allocation in memory_map.allocations:
        covered[allocation.buffer].append((allocation.ready, allocation.end))
    counts = [0, 0]
    for step, time in zip(after.schedule.steps, after.anchors, strict=True):
        if time is None or not after.hlo.program.instructions[time].accesses:
            continue
        before = after.hlo.schedule.steps[time].operand_times
        for operand, place in zip(step.instruction.operands, before, strict=False):
            buffer = after.hlo.buffer((place, ()))
            if buffer is None or operand.shape.is_tuple:
                continue
            in_fast = any(a <= time < b for a, b in covered.get(buffer, ()))
            if in_fast != (operand.shape.memory_space in after.fast_spaces):
                counts[0 if in_fast else 1] += 1
    return counts[0], counts[1]


class _Reading:
    """The program's own account of each buffer, by the names of its values."""

    def __init__(self, hlo: HloProgram, target: Target) -> None:
        self.hlo = hlo
        self.target = target
        self.uses = self._uses()
        self.depth = [0] * len(hlo.program)
        for loop in hlo.program.loops:
            for t in range(loop.start, loop.end):
                self.depth[t] += 1

    def matches(self, row: BufferRow) -> bool:
        first = self.hlo.group_named.get(row.name)
        if first is None:
            return False
        times = sorted(use.time for use in self.uses[first])
        return (self._size(first), first[0], times) == (
            row.size,
            row.definition_time,
            sorted(row.use_times),
        )

    def agrees_on_benefit(self, row: BufferRow) -> bool:
        first = self.hlo.group_named[row.name]
        definition = self._definition(first)
        uses = [
            self._site(use.time, self._bytes_read(use))
            for use in self.uses[first]
            if self._step(use.time).instruction.opcode not in PASSING
        ]
        ours = memory_boundedness(definition, uses, row.size, self.target)
        slack = rounding_tolerance(definition, uses, row.size, self.target)
        return abs(ours - row.benefit) <= max(0.01 * abs(row.benefit), slack)

    def _uses(self) -> dict[Value, list[OperandUse]]:
        """The uses that XLA lists: those of tuples only where a computation ends."""
        uses: dict[Value, list[OperandUse]] = defaultdict(list)
        for time, step in enumerate(self.hlo.schedule.steps):
            for number, index, value in self.hlo.storage.operand_values(step):
                first = self.hlo.storage.find(value)
                if first is not None and _is_listed(step, index != ()):
                    uses[first].append(OperandUse(time, number, index))
        return uses

    def _size(self, first: Value) -> int:
        storage = self.hlo.storage
        return max(storage.shape(value).size for value in storage.groups[first])

    def _step(self, time: int) -> Step:
        return self.hlo.schedule.steps[time]

    def _definition(self, first: Value) -> Site | None:
        time, index = first
        instruction = self._step(time).instruction
        if instruction.opcode == "parameter":
            return None
        if instruction.opcode == "constant":
            return constant_definition(self.target)
        written = self.hlo.costs.cost(instruction).output_bytes.get(index, 0)
        return self._site(time, written, is_write=True)

    def _bytes_read(self, use: OperandUse) -> int:
        cost = self.hlo.costs.cost(self._step(use.time).instruction)
        return cost.operand_bytes[use.operand].get(use.index, 0)

    def _site(self, time: int, moved: int, *, is_write: bool = False) -> Site:
        cost = self.hlo.costs.cost(self._step(time).instruction)
        return Site(
            compute_s=cost.flops / self.target.flops_per_second,
            total_bytes=cost.total_bytes,
            site_bytes=moved,
            is_write=is_write,
            runs=LOOP_FACTOR ** self.depth[time],
        )


def _is_listed(step: Step, is_element: bool) -> bool:
    opcode = step.instruction.opcode
    if opcode == "tuple":
        return step.is_root
    return not (is_element and opcode in ("get-tuple-element", "copy"))
