"""``explain`` and ``diff``: understand maps."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    Json,
    Model,
    ProgramInput,
    ProgramMap,
    Rows,
    TargetName,
    given_map,
    read_given,
)
from hybridalloc.cli.output import progress, show, show_json
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem

if TYPE_CHECKING:
    from hybridalloc.understanding import Explanation, Stay

PRICES_S = 10.0
"""Seconds for the lower bound whose prices are shown: a coarse one."""


def explain(
    input_path: ProgramInput,
    map_path: ProgramMap,
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
    prices: Annotated[
        bool,
        typer.Option(
            "--prices",
            help="Also say whether it is worth the space: by a lower bound, which "
            "takes some seconds.",
        ),
    ] = False,
    limit: Rows = 20,
    as_json: Json = False,
) -> int:
    """Say why a buffer is, or is not, in fast memory.

    And what that is worth.
    """
    from hybridalloc.report.explanation import explanation_json, explanation_parts
    from hybridalloc.report.pricing import price_parts
    from hybridalloc.understanding.explaining import explain as find_reasons

    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        memory_map = given_map(map_path, problem)
        step(f"explaining {buffer}")
        found = find_reasons(problem, memory_map, buffer)
        priced = None
        if prices:
            step("pricing fast memory")
            priced = _priced(problem, memory_map, found)
    if as_json:
        head = {"input": str(input_path), "map": map_path}
        tail = {} if priced is None else {"stays": [asdict(stay) for stay in priced]}
        show_json({**head, **explanation_json(found), **tail})
    else:
        show(*explanation_parts(found, str(input_path), limit))
        if priced is not None:
            show(*price_parts(priced, limit))
    return Exit.ANSWER


def _priced(
    problem: Problem, memory_map: MemoryMap, found: Explanation
) -> tuple[Stay, ...]:
    """What each stay of the buffer costs and saves, by a lower bound.

    Raises:
        UsageError: There was no time for prices.
    """
    from hybridalloc.bounds import lower_bound  # loads a solver of linear programs
    from hybridalloc.understanding.pricing import stays

    # Prices come with the first linear program, and no bound need be higher than 0.
    bound = lower_bound(problem, time_limit=PRICES_S, cutoff=0.0)
    if bound.prices is None:
        raise UsageError(
            f"--prices: {problem.program.name} is too large for prices in "
            f"{PRICES_S:g} s"
        )
    return stays(problem, memory_map, found, bound.prices)


def diff(
    input_path: ProgramInput,
    map_a: ProgramMap,
    map_b: ProgramMap,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    limit: Rows = 20,
    as_json: Json = False,
) -> int:
    """Say how two maps differ.

    And which buffers make which of them faster.
    """
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
