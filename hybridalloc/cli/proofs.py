"""``bound`` and ``verify``: what can be proven about a program, and about a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.answers import write_best
from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    Json,
    MaxSlices,
    Model,
    ProgramInput,
    ProgramMap,
    Rows,
    TargetName,
    Workers,
    given_map,
    read_given,
)
from hybridalloc.cli.output import apart, progress, show, show_json
from hybridalloc.io.files import require_writable
from hybridalloc.report.records import reference_times
from hybridalloc.report.tables import short_name

ProofTime = Annotated[
    float, typer.Option(min=0, metavar="SEC", help="Seconds of work.")
]


def bound(
    input_path: ProgramInput,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    max_slices: MaxSlices = None,
    time_limit: ProofTime = 60.0,
    limit: Rows = 10,
    as_json: Json = False,
) -> int:
    """Prove a time that no map can beat.

    And say what more memory or bandwidth would save.
    """
    from hybridalloc.bounds import lower_bound  # loads a solver of linear programs
    from hybridalloc.report.bounds import bound_parts, bound_record

    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity, max_slices)
        references = reference_times(problem)
        step(f"{short_name(str(input_path))}: lower bound")
        found = lower_bound(
            problem, time_limit=time_limit, cutoff=references.least_valid_s
        )
    row = bound_record(str(input_path), problem, found, references)
    if as_json:
        show_json(row.as_json())
    else:
        show(*bound_parts(row, limit))
    return Exit.INFEASIBLE if row.infeasible else Exit.ANSWER


def verify(
    input_path: ProgramInput,
    map_path: ProgramMap,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    max_slices: MaxSlices = None,
    time_limit: ProofTime = 60.0,
    workers: Workers = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="BETTER.json",
            help="Write the better map, if one is found.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Say whether a map is valid and optimal, or how far from it.

    What time is left goes into the search for a better map.
    """
    from hybridalloc.report.verification import report_json, report_parts
    from hybridalloc.verification import Verdict
    from hybridalloc.verification import verify as find_verdict

    if out is not None:
        require_writable(out)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity, max_slices)
        memory_map = given_map(map_path, problem)
        found = find_verdict(
            problem, memory_map, time_limit=time_limit, workers=workers, callback=step
        )
    written, failure = write_best(found.better, problem, out)
    names = str(input_path), map_path
    if as_json:
        show_json(report_json(found, problem, names, str(out) if written else None))
    else:
        show(*report_parts(found, problem, names), *apart(written))
    if failure is not None:
        raise failure
    return Exit.INFEASIBLE if found.verdict is Verdict.INVALID else Exit.ANSWER
