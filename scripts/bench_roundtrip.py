"""Have the compiler carry out the plans of many programs, and say how far it did.

``python scripts/bench_roundtrip.py OUT [--time-limit SEC] [PROGRAM ...]`` captures each
program of ``scripts/programs`` for tpu-v4i, plans it with ``hybrid`` among expressible
maps, has it compiled under the plan's settings and compares. Needs the extra ``[tpu]``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hybridalloc import solve
from hybridalloc.compiler.compilation import Settings, Stage, compile_program
from hybridalloc.compiler.deploying import deploy
from hybridalloc.compiler.source import Source, in_file
from hybridalloc.compiler.verifying import Verification, verify_plan
from hybridalloc.io.read import read_input, read_problem

PROGRAMS = Path(__file__).parent / "programs"
TARGET = "tpu-v4i"


def sources(names: list[str]) -> Iterator[Source]:
    """The programs of these names, or all."""
    known = {
        name: path
        for path in sorted(PROGRAMS.glob("*.py"))
        for name in re.findall(r"^def (\w+)_arguments\(", path.read_text(), re.M)
    }
    if unknown := set(names) - set(known):
        raise typer.BadParameter(
            f"{', '.join(unknown)}: expected of {', '.join(known)}"
        )
    for name in names or known:
        yield in_file(f"{known[name]}:{name}", f"{name}_arguments")


def verified(source: Source, out: Path, seconds: float) -> tuple[int, Verification]:
    """How many instructions a program has, and what became of its plan."""
    folder = out / source.function
    if not folder.exists():
        compile_program(source, TARGET, Settings(), Stage.ASSIGNMENT, folder)
    found = read_input(folder)
    result = solve(found.problem, time_limit=seconds, expressible=True)
    assert result.map is not None
    deployment = deploy(found, result.map)
    again = out / f"{source.function}-planned"
    compile_program(source, TARGET, deployment.settings, Stage.ASSIGNMENT, again)
    verification = verify_plan(deployment.problem, deployment.map, read_problem(again))
    return len(found.problem.program), verification


def main(
    out: Path,
    names: Annotated[list[str] | None, typer.Argument(metavar="PROGRAM")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each plan.")] = 20,
) -> None:
    """Print a row for each program, and the means."""
    print(
        "| program | instructions | allocations | exact | fast bytes | planned | ",
        end="",
    )
    print("realised |\n|---|--:|--:|--:|--:|--:|--:|")
    found = []
    for source in sources(names or []):
        length, x = verified(source, out, time_limit)
        found.append(x)
        assert x.default_s is not None
        print(
            f"| `{source.function}` | {length} | {x.allocations} | {x.exact} | "
            f"{x.bytes_share:.1%} | {x.default_s / x.planned_s:.3f} | "
            f"{x.default_s / x.realised_s:.3f} |",
            flush=True,
        )
    exact, planned = (
        sum(getattr(x, n) for x in found) for n in ("exact", "allocations")
    )
    gains = [math.log((x.default_s or x.realised_s) / x.realised_s) for x in found]
    deployed = [max(0.0, x) for x in gains]  # `apply` leaves what is slower alone
    print(f"exact: {exact} of {planned}, {exact / planned:.1%}")
    for what, logs in (("all plans", gains), ("those that are faster", deployed)):
        print(f"realised, {what}: {math.exp(sum(logs) / len(logs)):.4f}")


if __name__ == "__main__":
    typer.run(main)
