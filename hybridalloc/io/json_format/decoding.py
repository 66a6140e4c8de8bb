"""From the records of files to problems and memory maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hybridalloc.io.json_format import records
from hybridalloc.io.json_format.fault import FieldError, decode_at, decode_each
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import (
    Access,
    Buffer,
    Instruction,
    Loop,
    Observation,
    Program,
)
from hybridalloc.target import CopyEngine, MemorySpace, Target

Names = Mapping[str, int]
"""The index of each buffer's name."""


def decode_problem(file: records.ProblemFile) -> Problem:
    """The problem of a record.

    Raises:
        FieldError: It says something impossible.
    """
    program = decode_at("program", file.program, _program)
    target = decode_at("target", file.target, decode_target)
    if target.fast.capacity is None:
        message = "the capacity of the fast memory is missing, expected its bytes"
        raise FieldError(message, "target", "spaces", 0)
    compiler_map = None
    if file.compiler_map is not None:
        compiler_map = decode_at(
            "compiler_map", file.compiler_map, lambda item: decode_map(item, program)
        )
    return Problem(program, target, file.cost_model, compiler_map)


def decode_map(
    file: records.MapFile | records.MapRecord, program: Program
) -> MemoryMap:
    """The memory map of a record, for this program.

    Raises:
        FieldError: It says something impossible, or is for another program.
    """
    names = program.buffer_index
    meant = file.program if isinstance(file, records.MapFile) else program.name

    def allocation(record: records.AllocationRecord) -> Allocation:
        if meant != program.name and record.buffer not in names:
            message = f"this map is for program {meant!r}, not {program.name!r}, which"
            raise FieldError(f"{message} has no buffer {record.buffer!r}", "buffer")
        return _allocation(record, names)

    return MemoryMap(decode_each("allocations", file.allocations, allocation))


def _program(record: records.ProgramRecord) -> Program:
    names = _names(record.buffers)
    return Program(
        name=record.name,
        instructions=decode_each(
            "instructions", record.instructions, lambda item: _instruction(item, names)
        ),
        buffers=decode_each(
            "buffers", record.buffers, lambda item: Buffer(**vars(item))
        ),
        loops=decode_each("loops", record.loops, lambda item: Loop(**vars(item))),
    )


def _names(buffers: Iterable[records.BufferRecord]) -> Names:
    names: dict[str, int] = {}
    for index, buffer in enumerate(buffers):
        first = names.setdefault(buffer.name, index)
        if first != index:
            message = f"buffers[{first}] is called {buffer.name!r} too"
            raise FieldError(message, "buffers", index, "name")
    return names


def _instruction(record: records.InstructionRecord, names: Names) -> Instruction:
    def access(item: records.AccessRecord) -> Access:
        buffer = _index(names, item.buffer, "buffer")
        return Access(buffer, item.read_bytes, item.write_bytes, item.whole)

    def observation(item: records.ObservationRecord) -> Observation:
        fast = [_index(names, name, "fast", i) for i, name in enumerate(item.fast)]
        return Observation(tuple(sorted(fast)), item.cycles)

    return Instruction(
        name=record.name,
        compute_s=record.compute_s,
        accesses=decode_each("accesses", record.accesses, access),
        scratch_bytes=record.scratch_bytes,
        observations=decode_each("observations", record.observations, observation),
        kind=record.kind,
    )


def decode_target(record: records.TargetRecord) -> Target:
    """The target of a record; its fast memory may lack a capacity.

    Raises:
        FieldError: It says something impossible.
    """
    fields = dict(vars(record))
    fields["spaces"] = decode_each(
        "spaces", record.spaces, lambda item: MemorySpace(**vars(item))
    )
    fields["copy_engine"] = decode_at(
        "copy_engine", record.copy_engine, lambda item: CopyEngine(**vars(item))
    )
    return Target(**fields)


def _allocation(record: records.AllocationRecord, names: Names) -> Allocation:
    eviction = record.eviction
    return Allocation(
        buffer=_index(names, record.buffer, "buffer"),
        offset=record.offset,
        start=record.start,
        end=record.end,
        origin=record.origin,
        ready=record.start if record.ready is None else record.ready,
        slices=decode_each("slices", record.slices, lambda item: Slice(**vars(item))),
        eviction=None
        if eviction is None
        else decode_at("eviction", eviction, lambda item: Eviction(**vars(item))),
    )


def _index(names: Names, name: str, *steps: str | int) -> int:
    index = names.get(name)
    if index is None:
        raise FieldError(f"the program has no buffer {name!r}", *steps)
    return index
