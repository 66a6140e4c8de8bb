"""The records of version 1 of the problem and map files (``docs/format.md``).

The defaults stand here as well as in the data types, because a file of version 1
means the same for ever.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hybridalloc.io.files import write_text
from hybridalloc.memory_map import Origin
from hybridalloc.problem import CostModel
from hybridalloc.program import MAX_BYTES, Memory

VERSION = 1

Version = Annotated[int, Field(ge=VERSION, le=VERSION)]
Whole = Annotated[int, Field(ge=0, lt=MAX_BYTES)]
Positive = Annotated[int, Field(gt=0, lt=MAX_BYTES)]
Amount = Annotated[float, Field(ge=0)]
Rate = Annotated[float, Field(gt=0)]


class Record(BaseModel):
    """An object of the file: no type is guessed, no unknown key accepted."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class AccessRecord(Record):
    """What an instruction does with a buffer."""

    buffer: str
    """The buffer's name."""
    read_bytes: Whole = 0
    """Bytes read; may exceed the buffer's size."""
    write_bytes: Whole = 0
    """Bytes written."""
    whole: bool = False
    """Whether every byte is overwritten and none read."""


class ObservationRecord(Record):
    """A compiler's estimate of an instruction at one placement of its buffers."""

    fast: tuple[str, ...] = ()
    """Names of the buffers that are in fast memory."""
    cycles: Amount
    """Clock cycles of the target."""


class InstructionRecord(Record):
    """One step of the schedule."""

    name: str
    """Need not be unique."""
    compute_s: Amount = 0.0
    """Seconds of computation, were memory infinitely fast."""
    accesses: tuple[AccessRecord, ...] = ()
    """Operands in order, then outputs; one for each buffer."""
    scratch_bytes: Whole = 0
    """Bytes of fast memory, from offset 0, needed while it runs."""
    observations: tuple[ObservationRecord, ...] = ()
    """Estimates for the cost model 'cycles'."""
    kind: str = ""
    """What it does, for the cost model 'learned', such as 'copy'."""


class BufferRecord(Record):
    """Storage that one or more values share."""

    name: str
    """Unique within the program."""
    size: Whole
    """Bytes, with all padding."""
    is_input: bool = False
    """Whether its slow copy is valid before the program starts."""
    is_output: bool = False
    """Whether its slow copy must be valid after the program ends."""
    cross_program: bool = True
    """Whether solvers may choose it for the cross-program prefetch, if it is an input.
    """
    memory: Memory = Memory.ANY
    """'slow': never in fast memory; 'fast': always served from it."""
    offset: Whole | None = None
    """The only offset in fast memory that it may have, in bytes."""


class LoopRecord(Record):
    """Instructions that repeat."""

    start: Whole
    """The first instruction's index."""
    end: Whole
    """One past the last instruction's index."""
    trip_count: Whole
    """How often the range runs each time that it is reached."""


class ProgramRecord(Record):
    """Instructions in scheduled order, the buffers they touch, and their loops."""

    name: str
    """Maps repeat it."""
    instructions: tuple[InstructionRecord, ...]
    """In scheduled order; at least one."""
    buffers: tuple[BufferRecord, ...]
    """In any order."""
    loops: tuple[LoopRecord, ...] = ()
    """By start; outer loops before the ones within them."""


class SpaceRecord(Record):
    """One memory."""

    name: str
    """What to call it."""
    read_bandwidth: Rate
    """Bytes a second."""
    write_bandwidth: Rate
    """Bytes a second."""
    capacity: Positive | None = None
    """Bytes; the fast memory must have one."""
    alignment: Positive = 1
    """Every offset is a multiple of this many bytes."""
    reserved: tuple[tuple[Whole, Whole], ...] = ()
    """Half-open ranges of bytes that no allocation may touch."""


class CopyEngineRecord(Record):
    """What copies between the memories while the program runs."""

    max_outstanding_prefetches: Whole = 40
    """How many may be issued and not yet due at one point; a slice counts as one."""
    max_outstanding_evictions: Whole = 40
    """How many may be issued and not yet due at one point."""
    startup_s: Amount = 0.0
    """Seconds that each copy takes before its first byte."""
    max_slices: Positive = 4
    """The most parts that one prefetch may be cut into."""


class TargetRecord(Record):
    """The machine."""

    name: str
    """What to call it."""
    spaces: tuple[SpaceRecord, ...]
    """The fast memory, then the slow one."""
    flops_per_second: Rate
    """Peak rate."""
    clock_hz: Rate
    """Turns cycles into seconds."""
    copy_engine: CopyEngineRecord = CopyEngineRecord()
    """What copies between the memories while the program runs."""
    cross_program_prefetches: Whole = 1
    """How many inputs may be fetched before the program starts."""


class SliceRecord(Record):
    """A part of a prefetch with a copy of its own."""

    size: Positive
    """Bytes."""
    issue: Whole
    """The point at which its copy is issued."""


class EvictionRecord(Record):
    """A copy back to slow memory."""

    issue: Whole
    """The point at which it is issued."""
    due: Whole
    """The point by which it is complete."""


class AllocationRecord(Record):
    """A stay of one buffer at one offset of fast memory."""

    buffer: str
    """The buffer's name."""
    offset: Whole | None = None
    """Bytes from the start of fast memory."""
    start: Whole
    """The first instruction."""
    end: Whole
    """One past the last instruction."""
    origin: Origin = Origin.PRODUCED
    """How it gets its content."""
    ready: Whole | None = None
    """The point from which it serves accesses; if null, 'start'."""
    slices: tuple[SliceRecord, ...] = ()
    """The parts of a sliced prefetch in order of address; none if it is one copy."""
    eviction: EvictionRecord | None = None
    """The copy back to slow memory that it ends in, if any."""


class MapRecord(Record):
    """The allocations; copies issued at one point queue in this order."""

    allocations: tuple[AllocationRecord, ...]
    """Copies issued at one point queue in this order."""


class ProblemFile(Record):
    """A problem: a program, the target it runs on, and how time is judged."""

    format: Literal["hybridalloc/problem"]
    """What the file is."""
    version: Version
    """The version of the format."""
    program: ProgramRecord
    """What is mapped."""
    target: TargetRecord
    """What it runs on."""
    cost_model: CostModel = CostModel.ROOFLINE
    """How the time of an instruction is judged."""
    compiler_map: MapRecord | None = None
    """The compiler's own answer, if known."""


class MapFile(Record):
    """A memory map: which buffers are in fast memory, when and where."""

    format: Literal["hybridalloc/map"]
    """What the file is."""
    version: Version
    """The version of the format."""
    program: str
    """The name of the program that the map is for."""
    target: str
    """The name of the target that the map was made for."""
    capacity_bytes: Positive
    """The bytes of fast memory that the map was made for."""
    allocations: tuple[AllocationRecord, ...]
    """Copies issued at one point queue in this order."""


def schema(file: type[Record]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one kind of file."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **file.model_json_schema()}


def write_schemas(folder: Path) -> None:
    """Write ``problem.schema.json`` and ``map.schema.json`` into this folder.

    Raises:
        InputError: A file cannot be written.
    """
    for kind, file in (("problem", ProblemFile), ("map", MapFile)):
        text = json.dumps(schema(file), indent=2) + "\n"
        write_text(folder / f"{kind}.schema.json", text)
