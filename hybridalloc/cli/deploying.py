"""``apply``: have the compiler carry a map out."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
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
    say_reading,
    size_or_none,
)
from hybridalloc.cli.output import Step, progress, show, show_json
from hybridalloc.errors import UsageError
from hybridalloc.io.files import require_writable

if TYPE_CHECKING:
    from hybridalloc.compiler.deploying import Deployment
    from hybridalloc.compiler.source import Source
    from hybridalloc.compiler.verifying import Verification


def apply(
    input_path: ProgramInput,
    map_path: ProgramMap,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json|FILE.sh",
            help="Where the settings go: as JSON for jax, or exported by a shell.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(
            "--verify",
            metavar="FILE.py:FUNCTION",
            help="Compile the program again under the settings, and compare.",
            show_default=False,
        ),
    ] = None,
    arguments: Annotated[
        str | None,
        typer.Option(
            "--args", metavar="SPEC", help="As of `capture`.", show_default=False
        ),
    ] = None,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway", help="Write them even if the compiler's own answer is faster."
        ),
    ] = False,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    limit: Rows = 20,
    as_json: Json = False,
) -> int:
    """Write the compiler's options that make it carry a map out.

    Offsets are the compiler's to choose. What cannot be said of the map is left out:
    `solve --expressible` looks among maps that can be said as a whole. Nothing is
    written where the compiler's own answer is faster.
    """
    from hybridalloc.compiler.deploying import deploy, write_deployment
    from hybridalloc.io.read import read_input
    from hybridalloc.report.deployment import deployment_json, deployment_parts

    source = _source(verify, arguments)
    if out is not None:
        _require_settings_file(out)
    with progress() as step:
        say_reading(step, input_path)
        found = read_input(
            input_path,
            target=target,
            cost_model=cost_model,
            capacity=size_or_none(capacity),
        )
        deployment = deploy(found, given_map(map_path, found.problem))
        verification = None if source is None else _verified(deployment, source, step)
    is_written = out is not None and (anyway or deployment.is_worth_it)
    if out is not None and is_written:
        write_deployment(deployment, out)
    if as_json:
        head = {"input": str(input_path), "map": map_path}
        show_json({**head, **deployment_json(deployment, verification)})
    else:
        show(*deployment_parts(deployment, verification, str(input_path), limit))
        if is_written:
            show("", f"options written to {out}")
    return Exit.ANSWER


def _require_settings_file(out: Path) -> None:
    """Find out before any work that the options can be written there.

    Raises:
        InputError: They cannot.
        UsageError: Its name does not say in which form.
    """
    if out.suffix not in {".json", ".sh"}:
        raise UsageError(f"--out {out}: expected a name that ends in .json or .sh")
    require_writable(out)


def _source(verify: str | None, arguments: str | None) -> Source | None:
    """What to compile again, if anything.

    Raises:
        UsageError: It is not said wholly.
    """
    from hybridalloc.compiler.source import in_file

    if verify is None and arguments is None:
        return None
    if verify is None or arguments is None:
        raise UsageError("--verify FILE.py:FUNCTION and --args SPEC: expected both")
    return in_file(verify, arguments)


def _verified(deployment: Deployment, source: Source, step: Step) -> Verification:
    from hybridalloc.compiler.compilation import Stage, compile_program
    from hybridalloc.compiler.verifying import verify_plan
    from hybridalloc.io.read import read_problem

    target = deployment.problem.target
    step(f"compiling {source.function} again")
    with TemporaryDirectory() as place:
        folder = Path(place) / "again"
        compile_program(
            source, target.name, deployment.settings, Stage.ASSIGNMENT, folder
        )
        again = read_problem(folder, target=target)
    return verify_plan(deployment.problem, deployment.map, again)
