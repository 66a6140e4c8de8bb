"""``check``, ``info`` and ``convert``: look at inputs and maps."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.checker import Violation
from hybridalloc.checker import check as violations_of
from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    BUFFERS,
    PROGRAM,
    Capacity,
    GivenMap,
    Input,
    Json,
    Model,
    ProgramInput,
    Reserve,
    TargetName,
    given_map,
    read_given,
    require_unset,
    say_reading,
    size_or_none,
)
from hybridalloc.cli.output import progress, show, show_json
from hybridalloc.cli.static.inspection import check_csv, info_csv
from hybridalloc.errors import UsageError
from hybridalloc.io.files import require_writable
from hybridalloc.io.json_format import write_problem
from hybridalloc.io.minimalloc import is_csv, write_buffers
from hybridalloc.io.read import holds_buffers
from hybridalloc.oracle import Mismatch, execute
from hybridalloc.problem import Problem
from hybridalloc.repetition import repeat
from hybridalloc.report.records import finite
from hybridalloc.report.tables import info_table, simulated
from hybridalloc.report.units import size_text
from hybridalloc.static.temporaries import temporaries


def check(
    input_path: Input,
    map_path: GivenMap,
    target: TargetName = None,
    capacity: Capacity = None,
    oracle: Annotated[
        bool,
        typer.Option("--oracle", help="Also execute the program, word by word."),
    ] = False,
    reserve: Reserve = None,
    as_json: Json = False,
) -> int:
    """Check a memory map and name each violation.

    Exit code 1 if there is one. Of a CSV file of buffers: check the offsets in another
    one.
    """
    if holds_buffers(input_path):
        require_unset(PROGRAM, target=target, oracle=oracle)
        given = (input_path, map_path, capacity, reserve or ())
        return check_csv(*given, as_json=as_json)
    require_unset(BUFFERS, reserve=reserve)
    with progress() as step:
        problem = read_given(step, input_path, target, None, capacity)
        memory_map = given_map(map_path, problem)
        step("checking")
        violations = violations_of(problem, memory_map)
        mismatches = execute(problem, memory_map) if oracle else None
    valid = not violations and not mismatches
    if as_json:
        show_json(
            {
                "input": str(input_path),
                "map": map_path,
                "target": problem.target.name,
                "capacity_bytes": problem.target.capacity,
                "valid": valid,
                "violations": [asdict(violation) for violation in violations],
                "mismatches": None
                if mismatches is None
                else [asdict(mismatch) for mismatch in mismatches],
            }
        )
    else:
        show(*_verdict(problem, violations, mismatches))
    return Exit.ANSWER if valid else Exit.INFEASIBLE


def info(
    input_path: Input,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    as_json: Json = False,
) -> int:
    """Describe a program, or a CSV file of buffers.

    Where the compiler tells, also how well the program was read.
    """
    if holds_buffers(input_path):
        require_unset(PROGRAM, target=target, cost_model=cost_model)
        return info_csv(input_path, capacity, as_json=as_json)
    from hybridalloc.info import describe  # loads the simulator

    with progress() as step:
        say_reading(step, input_path)
        size = size_or_none(capacity)
        found = describe(
            input_path, target=target, cost_model=cost_model, capacity=size
        )
    values = {name: finite(value) for name, value in asdict(found).items()}
    if as_json:
        show_json(values)
    else:
        show(info_table(values))
    return Exit.ANSWER


def convert(
    input_path: ProgramInput,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.json[.gz]|FILE.csv",
            help="The problem file; or a CSV file of the temporaries and their lives.",
            show_default=False,
        ),
    ],
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeat",
            min=1,
            metavar="N",
            help="The program N times in a row, as one long program.",
        ),
    ] = 1,
) -> int:
    """Write a problem file: program, target and cost model."""
    if not out.name.endswith((".json", ".json.gz", ".csv", ".csv.gz")):
        raise UsageError(f"{out}: expected a name that ends in .json, .json.gz or .csv")
    require_writable(out)
    with progress() as step:
        problem = read_given(step, input_path, target, cost_model, capacity)
        if repeats > 1:
            program = repeat(problem.program, repeats)
            problem = replace(problem, program=program, compiler_map=None)
        step(f"writing {out.name}")
        if is_csv(out):
            write_buffers(out, temporaries(problem))
        else:
            write_problem(problem, out)
    show(
        f"{out}: {len(problem.program):,} instructions, "
        f"{len(problem.program.buffers):,} buffers, "
        f"{simulated(problem.cost_model.value, problem.target.name)}"
    )
    return Exit.ANSWER


def _verdict(
    problem: Problem,
    violations: tuple[Violation, ...],
    mismatches: tuple[Mismatch, ...] | None,
) -> list[str]:
    place = f"{problem.target.name}, {size_text(problem.target.capacity)}"
    lines = [f"{violation.rule.value}: {violation.message}" for violation in violations]
    for mismatch in mismatches or ():
        lines.append(f"execution: {mismatch.message}")
    if violations:
        return [*lines, f"not valid ({place}): {len(violations)} violations"]
    if mismatches:
        return [*lines, f"not valid ({place}): the execution differs"]
    executed = "" if mismatches is None else ", and executes as the program does"
    return [f"valid ({place}){executed}"]
