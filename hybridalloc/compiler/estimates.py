"""The cycles that the compiler estimates for each instruction where it is placed.

They stand in the module after code generation. Two compiles of the same program, with
different placements, give what an instruction costs under both.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hybridalloc.io.files import write_text
from hybridalloc.io.hlo.module import HloInstruction
from hybridalloc.io.hlo.parser import parse_module
from hybridalloc.io.tables import integer, integers, read_table

_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')
_COLUMNS = ("instruction_name", "cycles", "fast_operands", "fast_outputs")
_CYCLE_COLUMNS = ("instruction_name", "cycles_msa", "cycles_hbm", *_COLUMNS[2:])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an instruction costs, given where its operands and outputs are."""

    instruction: str
    cycles: int
    fast_operands: tuple[int, ...]
    """Numbers of the operands that are in fast memory."""
    fast_outputs: tuple[int, ...]
    """Numbers of the outputs that are; 0 for an instruction with one output."""


def estimates_in(text: str, fast_space: int) -> list[Estimate]:
    """The estimates in a module after code generation, in its order.

    Args:
        text: The module.
        fast_space: The number that layouts have for fast memory.

    Raises:
        ValueError: The text is not a module.
    """
    module = parse_module(text)
    return [
        estimate
        for computation in module.computations.values()
        for instruction in computation.instructions
        for estimate in _estimate(instruction, fast_space)
    ]


def _estimate(instruction: HloInstruction, fast_space: int) -> Iterator[Estimate]:
    found = _CYCLES.search(instruction.attribute_text)
    if found is None:
        return
    shape = instruction.shape
    outputs = shape.elements if shape.is_tuple else (shape,)
    operands = [operand.shape for operand in instruction.operands]
    yield Estimate(
        instruction.name,
        int(found[1]),
        tuple(n for n, x in enumerate(operands) if x.memory_space == fast_space),
        tuple(n for n, x in enumerate(outputs) if x.memory_space == fast_space),
    )


def write_estimates(path: Path, estimates: Sequence[Estimate]) -> None:
    """Write a table of estimates.

    Raises:
        InputError: The file cannot be written.
    """
    rows = [(e.instruction, e.cycles, *_placement(e)) for e in estimates]
    write_text(path, _table(_COLUMNS, rows))


def read_estimates(path: Path) -> list[Estimate]:
    """Read a table that ``write_estimates`` wrote.

    Raises:
        InputError: It cannot be read, or is none.
    """

    def parse(row: dict[str, str]) -> Estimate:
        return Estimate(
            row["instruction_name"],
            integer(row, "cycles"),
            tuple(integers(row, "fast_operands")),
            tuple(integers(row, "fast_outputs")),
        )

    return read_table(path, _COLUMNS, parse)


def write_cycles(
    path: Path, placed: Sequence[Estimate], all_slow: Sequence[Estimate]
) -> None:
    """Write the table of cycles of a workload folder.

    Args:
        path: The file.
        placed: What the instructions cost with the compiler's placement.
        all_slow: What they cost with fast memory unused.

    Raises:
        InputError: The file cannot be written.
    """
    slow = {estimate.instruction: estimate for estimate in all_slow}
    rows: list[tuple[object, ...]] = []
    for estimate in placed:
        other = slow.pop(estimate.instruction, None)
        cycles = "" if other is None else other.cycles
        rows.append(
            (estimate.instruction, estimate.cycles, cycles, *_placement(estimate))
        )
    rows += [
        (estimate.instruction, "", estimate.cycles, "", "")
        for estimate in slow.values()
    ]
    write_text(path, _table(_CYCLE_COLUMNS, rows))


def _placement(estimate: Estimate) -> tuple[str, str]:
    return _joined(estimate.fast_operands), _joined(estimate.fast_outputs)


def _joined(numbers: Sequence[int]) -> str:
    return ";".join(map(str, numbers))


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()
