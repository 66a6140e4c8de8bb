"""``explain`` and ``diff``: understand maps."""

from __future__ import annotations

from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    GivenMap,
    Input,
    Json,
    Model,
    TargetName,
    given_map,
    read_given,
)
from hybridalloc.cli.output import progress, show, show_json

Rows = Annotated[int, typer.Option(min=1, help="The most rows of a table.")]


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
    limit: Rows = 20,
    as_json: Json = False,
) -> int:
    """Say why a buffer is, or is not, in fast memory, and what that is worth."""
    from hybridalloc.report.explanation import explanation_json, explanation_parts
    from hybridalloc.understanding.explaining import explain as find_reasons

    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
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
    limit: Rows = 20,
    as_json: Json = False,
) -> int:
    """Say how two maps differ, and which buffers make which of them faster."""
    from hybridalloc.report.difference import difference_json, difference_parts
    from hybridalloc.understanding.differing import diff as find_differences

    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        maps = [given_map(path, problem) for path in (map_a, map_b)]
        step("comparing the maps")
        found = find_differences(problem, *maps)
    if as_json:
        head = {"input": str(input_path), "map_a": map_a, "map_b": map_b}
        show_json({**head, **difference_json(found)})
    else:
        show(*difference_parts(found, (str(input_path), map_a, map_b), limit))
    return Exit.ANSWER
