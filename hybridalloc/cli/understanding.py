"""``explain`` and ``diff``: understand maps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    Input,
    Json,
    Model,
    TargetName,
    given_map,
    size_or_none,
)
from hybridalloc.cli.output import Step, progress, show, show_json
from hybridalloc.io.read import read_problem
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.tables import short_name

_MAP_HELP = "A map file, or `input`: the compiler's own answer."
GivenMap = Annotated[
    str, typer.Argument(metavar="MAP|input", help=_MAP_HELP, show_default=False)
]
Limit = Annotated[int, typer.Option(min=1, help="The most rows of a table.")]


def explain(
    input_path: Input,
    map_path: GivenMap,
    buffer: Annotated[
        str,
        typer.Argument(
            metavar="BUFFER",
            help="Its name, a part of it that no other has, or #12: its index.",
            show_default=False,
        ),
    ],
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> int:
    """Say why a buffer is, or is not, in fast memory, and what that is worth."""
    from hybridalloc.report.explanation import explanation_json, explanation_parts
    from hybridalloc.understanding.explaining import explain as find_reasons

    with progress() as step:
        problem = _read(step, input_path, target, cost_model, capacity)
        memory_map = given_map(map_path, problem)
        step(f"explaining {buffer}")
        found = find_reasons(problem, memory_map, buffer)
    if as_json:
        head = {"input": str(input_path), "map": map_path}
        show_json({**head, **explanation_json(found)})
    else:
        show(*explanation_parts(found, str(input_path), limit))
    return Exit.ANSWER


def diff(
    input_path: Input,
    map_a: GivenMap,
    map_b: GivenMap,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> int:
    """Say how two maps differ, and which buffers make which of them faster."""
    from hybridalloc.report.difference import difference_json, difference_parts
    from hybridalloc.understanding.differing import diff as find_differences

    with progress() as step:
        problem = _read(step, input_path, target, cost_model, capacity)
        maps = [given_map(path, problem) for path in (map_a, map_b)]
        step("comparing the maps")
        found = find_differences(problem, *maps)
    if as_json:
        head = {"input": str(input_path), "map_a": map_a, "map_b": map_b}
        show_json({**head, **difference_json(found)})
    else:
        show(*difference_parts(found, (str(input_path), map_a, map_b), limit))
    return Exit.ANSWER


def _read(
    step: Step,
    path: Path,
    target: str | None,
    cost_model: CostModel | None,
    capacity: str | None,
) -> Problem:
    step(f"reading {short_name(str(path))}")
    return read_problem(
        path, target=target, cost_model=cost_model, capacity=size_or_none(capacity)
    )
