"""Reading a problem from whatever file or folder holds it."""

from __future__ import annotations

from pathlib import Path

from hybridalloc.errors import InputError
from hybridalloc.io import json_format
from hybridalloc.io.files import read_text
from hybridalloc.io.xla_dump import read_dump, read_hlo
from hybridalloc.problem import CostModel, Problem
from hybridalloc.target import Target, get_target

DEFAULT_TARGET = "tpu-v4i"


def read_problem(
    path: Path | str,
    *,
    target: Target | str | None = None,
    cost_model: CostModel | str | None = None,
    capacity: int | None = None,
) -> Problem:
    """Read a problem file, a workload folder or a scheduled HLO module.

    Args:
        path: A JSON problem file, a workload folder, or HLO text; compressed or not.
        target: A target or its name; for what carries none, ``tpu-v4i`` if not given.
            A problem file keeps its compute times under another target.
        cost_model: The cost model, ``roofline`` if neither given nor carried.
        capacity: Bytes of fast memory, in place of the target's.

    Raises:
        InputError: The input cannot be read, or is none of these.
        UsageError: The target is unknown, or its capacity must be given.
    """
    path = Path(path)
    machine = get_target(target) if isinstance(target, str) else target
    if not path.is_dir() and read_text(path).lstrip().startswith("{"):
        problem = json_format.read_problem(path)
        machine = machine or problem.target
    else:
        machine = machine or get_target(DEFAULT_TARGET)
        problem = None
    try:
        if capacity is not None:
            machine = machine.with_capacity(capacity)
        model = CostModel(cost_model or (problem or _Defaults).cost_model)
        if problem is None:
            return _read_xla(path, machine, model)
        return Problem(problem.program, machine, model, problem.compiler_map)
    except ValueError as error:
        raise InputError(path, str(error)) from error


class _Defaults:
    cost_model = CostModel.ROOFLINE


def _read_xla(path: Path, target: Target, cost_model: CostModel) -> Problem:
    if path.is_dir():
        dump = read_dump(path, target)
        return Problem(dump.program, target, cost_model, dump.compiler_map)
    return Problem(read_hlo(path, target).program, target, cost_model)
