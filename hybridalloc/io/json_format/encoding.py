"""From problems and memory maps to the fields of their files.

The elements of long arrays come from iterators, one at a time, so that a large
program is never held in memory twice. Each goes through its record, so that what is
written can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hybridalloc.io.json_format import records
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Instruction, Program

Fields = dict[str, Any]
"""The fields of an object of the file, without those that have their defaults."""


def encode_problem(problem: Problem) -> Fields:
    """The fields of a problem file.

    Raises:
        ValueError: A number is beyond what the format holds (2^53).
    """
    program, target = problem.program, _encode(records.TargetRecord, problem.target)
    fields: Fields = {
        "format": "hybridalloc/problem",
        "version": records.VERSION,
        "program": _program(program),
        "target": {**target, "spaces": iter(target["spaces"])},
    }
    if problem.cost_model is not CostModel.ROOFLINE:
        fields["cost_model"] = str(problem.cost_model)
    if problem.compiler_map is not None:
        allocations = _allocations(problem.compiler_map, program)
        fields["compiler_map"] = {"allocations": allocations}
    return fields


def encode_map(memory_map: MemoryMap, problem: Problem) -> Fields:
    """The fields of the file of a memory map of this problem.

    Raises:
        ValueError: A number is beyond what the format holds (2^53), or the map is for
            another program.
    """
    return {
        "format": "hybridalloc/map",
        "version": records.VERSION,
        "program": problem.program.name,
        "target": problem.target.name,
        "capacity_bytes": problem.target.capacity,
        "allocations": _allocations(memory_map, problem.program),
    }


def _program(program: Program) -> Fields:
    names = [buffer.name for buffer in program.buffers]
    fields: Fields = {
        "name": program.name,
        "instructions": (_instruction(i, names) for i in program.instructions),
        "buffers": _encode_each(records.BufferRecord, program.buffers),
    }
    if program.loops:
        fields["loops"] = _encode_each(records.LoopRecord, program.loops)
    return fields


def _instruction(instruction: Instruction, names: Sequence[str]) -> Fields:
    record = records.InstructionRecord(
        name=instruction.name,
        compute_s=instruction.compute_s,
        accesses=tuple(
            records.AccessRecord(
                buffer=names[access.buffer],
                read_bytes=access.read_bytes,
                write_bytes=access.write_bytes,
                whole=access.whole,
            )
            for access in instruction.accesses
        ),
        scratch_bytes=instruction.scratch_bytes,
        observations=tuple(
            records.ObservationRecord(
                fast=tuple(names[index] for index in seen.fast), cycles=seen.cycles
            )
            for seen in instruction.observations
        ),
        kind=instruction.kind,
    )
    return _dump(record)


def _allocations(memory_map: MemoryMap, program: Program) -> Iterator[Fields]:
    return (_allocation(a, program) for a in memory_map.allocations)


def _allocation(allocation: Allocation, program: Program) -> Fields:
    if allocation.buffer >= len(program.buffers):
        raise ValueError(
            f"allocation of buffer {allocation.buffer}, but program {program.name} has "
            f"{len(program.buffers)} buffers"
        )
    eviction = allocation.eviction
    record = records.AllocationRecord(
        buffer=program.buffers[allocation.buffer].name,
        offset=allocation.offset,
        start=allocation.start,
        end=allocation.end,
        origin=allocation.origin,
        ready=None if allocation.ready == allocation.start else allocation.ready,
        slices=tuple(
            records.SliceRecord(size=piece.size, issue=piece.issue)
            for piece in allocation.slices
        ),
        eviction=None
        if eviction is None
        else records.EvictionRecord(issue=eviction.issue, due=eviction.due),
    )
    return _dump(record)


def _encode_each(
    kind: type[records.Record], items: Iterable[object]
) -> Iterator[Fields]:
    return (_encode(kind, item) for item in items)


def _encode(kind: type[records.Record], item: object) -> Fields:
    """The fields of a record that has the names of the item's own."""
    return _dump(kind.model_validate(item, from_attributes=True))


def _dump(record: records.Record) -> Fields:
    return record.model_dump(mode="json", exclude_defaults=True)
