"""A workload folder: what XLA dumps around Memory Space Assignment (MSA).

``before_msa.hlo`` is the program; ``scheduleinfo.csv`` its schedule, which must agree;
``cycles.csv`` the compiler's cycle estimates; ``bufferinfo.csv``, ``allocinfo.csv`` and
``after_msa.hlo`` the compiler's own view of the problem and its answer. Only the first
is needed, and each may be compressed (``.gz``).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from hybridalloc.errors import InputError
from hybridalloc.io.collector import collector_paused
from hybridalloc.io.files import read_text
from hybridalloc.io.hlo.parser import HloSyntaxError, parse_module
from hybridalloc.io.hlo.reader import HloProgram, InputWarning, parse_hlo
from hybridalloc.io.tables import integer, integers, read_table
from hybridalloc.io.xla.answer import AllocationRow, compiler_map
from hybridalloc.io.xla.copies import AfterMsa
from hybridalloc.io.xla.rows import BufferRow, read_buffer_rows, read_schedule_rows
from hybridalloc.memory_map import MemoryMap
from hybridalloc.program import Observation, Program
from hybridalloc.target import Target


@dataclass(frozen=True, slots=True)
class _CycleRow:
    instruction: str
    with_msa: float | None
    all_slow: float | None
    fast_operands: tuple[int, ...]
    fast_outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class XlaDump:
    """A workload folder, read."""

    path: Path
    hlo: HloProgram
    """The program with its HLO; without the cycle estimates."""
    program: Program
    """With the cycle estimates, where the folder has them."""
    buffer_rows: tuple[BufferRow, ...] | None
    after: AfterMsa | None
    compiler_map: MemoryMap | None
    """XLA's own answer, where the folder has it."""


def has_program(folder: Path) -> bool:
    """Whether a folder has the program that ``read_dump`` needs."""
    return _find(folder, "before_msa.hlo") is not None


@collector_paused()
def read_dump(folder: Path, target: Target) -> XlaDump:
    """Read a workload folder.

    Raises:
        InputError: A file cannot be read, is wrong, or disagrees with the program.
    """
    path = _find(folder, "before_msa.hlo")
    if path is None:
        raise InputError(
            folder,
            "expected a file before_msa.hlo or before_msa.hlo.gz, or the tables "
            "bufferinfo.csv and scheduleinfo.csv",
        )
    hlo = parse_hlo(read_text(path), path, target, folder.resolve().name)
    _check_schedule(folder, hlo)
    buffer_rows = _read_buffer_rows(folder)
    after = _read_after(folder, hlo)
    answer = None
    if buffer_rows is not None and after is not None:
        answer = _read_answer(folder, hlo, after, buffer_rows)
    program = _with_cycles(folder, hlo)
    return XlaDump(folder, hlo, program, buffer_rows, after, answer)


def _find(folder: Path, name: str) -> Path | None:
    candidates = (folder / name, folder / f"{name}.gz")
    return next((path for path in candidates if path.is_file()), None)


def _check_schedule(folder: Path, hlo: HloProgram) -> None:
    path = _find(folder, "scheduleinfo.csv")
    if path is None:
        return
    rows = read_schedule_rows(path)
    names = [instruction.name for instruction in hlo.program.instructions]
    for line, ((time, name), expected) in enumerate(
        zip(rows, enumerate(names), strict=False), 2
    ):
        if (time, name) != expected:
            raise InputError(
                path,
                f"instruction {time} is {name}, but the program's instruction "
                f"{expected[0]} is {expected[1]}",
                line,
            )
    if len(rows) != len(names):
        raise InputError(
            path, f"{len(rows)} instructions, but the program has {len(names)}"
        )


def _read_buffer_rows(folder: Path) -> tuple[BufferRow, ...] | None:
    path = _find(folder, "bufferinfo.csv")
    if path is None:
        return None
    return read_buffer_rows(path)


def _read_after(folder: Path, hlo: HloProgram) -> AfterMsa | None:
    path = _find(folder, "after_msa.hlo")
    if path is None:
        return None
    try:
        return AfterMsa(hlo, parse_module(read_text(path)))
    except HloSyntaxError as error:
        raise InputError(path, str(error), error.line) from error
    except RecursionError as error:
        raise InputError(path, str(error)) from error


def _read_answer(
    folder: Path, hlo: HloProgram, after: AfterMsa, buffer_rows: tuple[BufferRow, ...]
) -> MemoryMap | None:
    path = _find(folder, "allocinfo.csv")
    if path is None:
        return None
    of_id = {
        row.buffer_id: hlo.buffer(hlo.group_named[row.name])
        for row in buffer_rows
        if row.name in hlo.group_named
    }
    columns = ("buffer_id", "size", "offset", "start_time", "end_time")

    def parse(row: dict[str, str]) -> AllocationRow:
        fields = (integer(row, name) for name in columns[1:])
        return AllocationRow(of_id.get(integer(row, "buffer_id")), *fields)

    rows = read_table(path, columns, parse)
    try:
        return compiler_map(hlo.program, after, rows)
    except ValueError as error:
        warnings.warn(
            f"{path}: the compiler's own answer is left out: {error}",
            InputWarning,
            stacklevel=2,
        )
        return None


def _with_cycles(folder: Path, hlo: HloProgram) -> Program:
    path = _find(folder, "cycles.csv")
    if path is None:
        return hlo.program
    columns = ["instruction_name", "cycles_msa", "cycles_hbm"]
    columns += ["fast_operands", "fast_outputs"]
    rows = {row.instruction: row for row in read_table(path, columns, _cycle_row)}
    instructions = []
    for time, instruction in enumerate(hlo.program.instructions):
        row = rows.get(instruction.name)
        if row is not None:
            observations = tuple(_observations(hlo, time, row))
            instruction = replace(instruction, observations=observations)
        instructions.append(instruction)
    return replace(hlo.program, instructions=tuple(instructions))


def _cycle_row(row: dict[str, str]) -> _CycleRow:
    def cycles(column: str) -> float | None:
        return float(integer(row, column)) if row[column].strip() else None

    return _CycleRow(
        row["instruction_name"],
        cycles("cycles_msa"),
        cycles("cycles_hbm"),
        tuple(integers(row, "fast_operands")),
        tuple(integers(row, "fast_outputs")),
    )


def _observations(hlo: HloProgram, time: int, row: _CycleRow) -> list[Observation]:
    """Both estimates of an instruction, in terms of the buffers it accesses."""
    observations = []
    if row.all_slow is not None:
        observations.append(Observation((), row.all_slow))
    fast = _named_buffers(hlo, time, row)
    if row.with_msa is not None and fast:
        observations.append(Observation(tuple(sorted(fast)), row.with_msa))
    return observations


def _named_buffers(hlo: HloProgram, time: int, row: _CycleRow) -> set[int]:
    step = hlo.schedule.steps[time]
    operands = list(step.operand_times)
    values = [(operands[n], ()) for n in row.fast_operands if n < len(operands)]
    is_tuple = step.instruction.shape.is_tuple
    outputs = [(time, (n,) if is_tuple else ()) for n in row.fast_outputs]
    accessed = {a.buffer for a in hlo.program.instructions[time].accesses}
    found = {hlo.buffer(value) for value in (*values, *outputs)}
    return {buffer for buffer in found if buffer is not None and buffer in accessed}
