"""Reading a problem from whatever file or folder holds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io import json_format
from hybridalloc.io.files import is_folder, read_text
from hybridalloc.io.hlo.reader import HloProgram, parse_hlo
from hybridalloc.io.minimalloc import is_csv
from hybridalloc.io.models import is_model, read_model
from hybridalloc.io.target_file import get_target
from hybridalloc.io.xla.captured import captured_target
from hybridalloc.io.xla.dump import XlaDump, has_program, read_dump
from hybridalloc.io.xla.msa_tables import find_tables, read_tables
from hybridalloc.problem import CostModel, Problem, get_cost_model
from hybridalloc.target import Target

DEFAULT_TARGET = "tpu-v4i"


@dataclass(frozen=True, eq=False, repr=False)
class Input:
    """A problem and, where it came from one, the compiler's dump."""

    problem: Problem
    dump: XlaDump | None = None
    hlo: HloProgram | None = None
    """The HLO that the program was read from, if it was."""


def read_problem(
    path: Path | str,
    *,
    target: Target | str | None = None,
    cost_model: CostModel | str | None = None,
    capacity: int | None = None,
    max_slices: int | None = None,
) -> Problem:
    """Read a problem file, a workload folder, an HLO module, XLA's tables or a model.

    PyTorch may unpickle what its models hold: read only those that you trust.

    Args:
        path: A JSON problem file, a workload folder, HLO text, or a ``bufferinfo`` or
            folder with XLA's tables alone (docs/format.md), compressed or not; or a
            model file of another framework (docs/doors.md).
        target: A target or its name; for what carries none, ``tpu-v4i`` if not given.
            A problem file keeps its compute times under another target.
        cost_model: The cost model, ``roofline`` if neither given nor carried.
        capacity: Bytes of fast memory, in place of the target's.
        max_slices: The most parts of one prefetch, in place of the target's.

    Raises:
        InputError: The input cannot be read, or is none of these.
        UsageError: The target or cost model is unknown, the capacity is missing, or
            it or the number of slices is impossible.
    """
    found = read_input(
        path,
        target=target,
        cost_model=cost_model,
        capacity=capacity,
        max_slices=max_slices,
    )
    return found.problem


def read_input(
    path: Path | str,
    *,
    target: Target | str | None = None,
    cost_model: CostModel | str | None = None,
    capacity: int | None = None,
    max_slices: int | None = None,
) -> Input:
    """Read a problem together with what else its source holds.

    Takes and raises what ``read_problem`` does.
    """
    path = Path(path)
    if holds_buffers(path):
        raise InputError(path, "expected a program, not a CSV file of buffers")
    machine = get_target(target) if isinstance(target, str) else target
    if not isinstance(machine, Target | None):
        raise UsageError(f"target {target!r}: expected a target or its name")
    judge = None if cost_model is None else get_cost_model(cost_model)
    try:
        found = _read(path, machine, capacity)
        machine = machine or found.problem.target
        problem = replace(
            found.problem,
            target=_sliced(_sized(machine, capacity), max_slices),
            cost_model=judge or found.problem.cost_model,
        )
    except ValueError as error:
        raise InputError(path, str(error)) from error
    return replace(found, problem=problem)


def holds_buffers(path: Path) -> bool:
    """Whether a file's name says that it has buffers with lives, and no program.

    Raises:
        InputError: The operating system does not tell whether there is a folder.
    """
    if not is_csv(path) or is_folder(path):
        return False
    return find_tables(path) is None


def _sized(target: Target, capacity: int | None) -> Target:
    if isinstance(capacity, bool) or not isinstance(capacity, int | None):
        raise UsageError(f"capacity {capacity!r}: expected a whole number of bytes")
    try:
        return target if capacity is None else target.with_capacity(capacity)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _sliced(target: Target, max_slices: int | None) -> Target:
    if isinstance(max_slices, bool) or not isinstance(max_slices, int | None):
        raise UsageError(f"max_slices {max_slices!r}: expected a whole number")
    if max_slices is None:
        return target
    try:
        engine = replace(target.copy_engine, max_slices=max_slices)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return replace(target, copy_engine=engine)


def _read(path: Path, target: Target | None, capacity: int | None) -> Input:
    """What is at a path; a problem file may be for another target."""
    text = None if is_folder(path) or is_model(path) else read_text(path)
    if text is not None and text.lstrip().startswith("{"):
        return Input(json_format.loads_problem(text, path))
    machine = target or get_target(captured_target(path) or DEFAULT_TARGET)
    machine = _sized(machine, capacity)
    if is_model(path):
        return Input(read_model(path, machine))
    return _read_xla(path, text, machine)


def _read_xla(path: Path, text: str | None, target: Target) -> Input:
    """XLA's tables, a module's text, or the folder at this path if there is none."""
    tables = None if has_program(path) else find_tables(path)
    if tables is not None:
        return Input(read_tables(tables, target))
    if text is not None:
        hlo = parse_hlo(text, path, target)
        return Input(Problem(hlo.program, target), hlo=hlo)
    dump = read_dump(path, target)
    problem = Problem(dump.program, target, compiler_map=dump.compiler_map)
    return Input(problem, dump, dump.hlo)
