"""Observing: what a compile tells of each instruction at the placement that it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hybridalloc.compiler.estimates import read_estimates
from hybridalloc.io.tables import read_table, seconds
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Instruction, Observation
from hybridalloc.understanding.serving import Serving

ESTIMATES = "estimates.csv.gz"


def observe(
    problem: Problem, memory_map: MemoryMap, cycles: Mapping[str, float]
) -> Problem:
    """The problem that knows what its instructions cost under a map.

    Args:
        problem: Any observation of an instruction at the same placement is replaced.
        memory_map: What the compiler has carried out.
        cycles: Of the instructions that are known, by name.
    """
    fast = Serving(problem, memory_map).fast
    instructions = tuple(
        _with(
            instruction, Observation(tuple(sorted(fast[t])), cycles[instruction.name])
        )
        if instruction.name in cycles
        else instruction
        for t, instruction in enumerate(problem.program.instructions)
    )
    return replace(problem, program=replace(problem.program, instructions=instructions))


def _with(instruction: Instruction, seen: Observation) -> Instruction:
    known = [x for x in instruction.observations if x.fast != seen.fast]
    return replace(instruction, observations=(*known, seen))


def estimated_cycles(folder: Path) -> dict[str, float]:
    """The cycles of the instructions in a folder that was compiled to the end.

    Raises:
        InputError: Its table cannot be read.
    """
    return {x.instruction: float(x.cycles) for x in read_estimates(folder / ESTIMATES)}


def read_measured(path: Path) -> dict[str, float]:
    """The seconds that instructions took in a user's own run, by name.

    Raises:
        InputError: The table cannot be read.
    """
    names = ("instruction_name", "seconds")
    rows = read_table(path, names, lambda row: (row[names[0]], seconds(row, names[1])))
    return dict(rows)


def measured_file(folder: Path, trial: str) -> Path:
    """Where in the folder of a tuning the measured times of a trial are."""
    return folder / f"{trial}-measured.csv"
