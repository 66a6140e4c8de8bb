"""``tune``: plan, compile, learn what it costs, plan again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridalloc.cli.capturing import Arguments, CompilerTarget, Program
from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import Capacity, Json, size_or_none
from hybridalloc.cli.output import progress, show, show_json
from hybridalloc.compose import parse
from hybridalloc.errors import CompilerError, UsageError
from hybridalloc.interruption import Interruption, postponed
from hybridalloc.io.files import write_text
from hybridalloc.solving import DEFAULT_STRATEGY

if TYPE_CHECKING:
    from hybridalloc.target import Target
    from hybridalloc.tuning.tuner import Tuner


def tune(
    program: Program,
    arguments: Arguments,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Where everything goes. The same command goes on from what is there.",
            show_default=False,
        ),
    ],
    target: CompilerTarget = "tpu-v4i",
    capacity: Capacity = None,
    time_limit: Annotated[
        float, typer.Option(min=0, metavar="SEC", help="Seconds in all.")
    ] = 600,
    strategy: Annotated[
        str, typer.Option(metavar="S", help="As of `solve`.")
    ] = DEFAULT_STRATEGY,
    solve_time: Annotated[
        float, typer.Option(min=0, metavar="SEC", help="Seconds for each plan.")
    ] = 20,
    plans: Annotated[
        int,
        typer.Option(
            min=1,
            max=8,
            metavar="N",
            help="Plans in a round, compiled side by side.",
        ),
    ] = 2,
    measured: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAN=FILE.csv",
            help="Times of your own run of a plan, in columns instruction_name and "
            "seconds, in place of the compiler's estimates; of one plan or more.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Tune a program by the compiler's own cycles.

    Never slower than its default. Each round plans under all that is known of cycles,
    has the compiler carry the plans out, and reads what every instruction costs so. The
    options of the best plan, and a report, are written to the folder; Ctrl-C ends with
    the best so far.
    """
    from hybridalloc.compiler.source import in_file
    from hybridalloc.report.tuning import tuning_json, tuning_parts
    from hybridalloc.tuning.tuner import TuneConfig, Tuner

    parse(strategy)
    with progress() as step, Interruption() as interruption:
        tuner = Tuner(
            in_file(program, arguments),
            _machine(target, capacity),
            out,
            TuneConfig(strategy, solve_time, plans),
            time.monotonic() + time_limit,
            step,
            lambda: interruption.happened,
            _tables(measured or []),
        )
        _run(tuner)
    if as_json:
        show_json(tuning_json(tuner))
    else:
        show(*tuning_parts(tuner), "", f"options and report written to {out}")
    return Exit.ANSWER


def _machine(name: str, capacity: str | None) -> Target:
    from hybridalloc.io.target_file import get_target

    target, size = get_target(name), size_or_none(capacity)
    return target if size is None else target.with_capacity(size)


def _tables(measured: list[str]) -> dict[str, Path]:
    """The files that ``PLAN=FILE.csv`` name, by plan.

    Raises:
        UsageError: One of them is not of this form.
    """
    pairs = [text.partition("=") for text in measured]
    for text, (trial, _, file) in zip(measured, pairs, strict=True):
        if not (trial and file):
            raise UsageError(f"--measured {text!r}: expected PLAN=FILE.csv")
    return {trial: Path(file) for trial, _, file in pairs}


def _run(tuner: Tuner) -> None:
    """Run a tuning and write what it finds, if only until Ctrl-C or a failed compile.

    What an earlier run has written stays until all of its plans are taken up again.
    """
    try:
        tuner.run()
    except KeyboardInterrupt:
        if not tuner.is_caught_up:
            raise
    except CompilerError:
        if tuner.is_caught_up:
            _write(tuner)
        raise
    _write(tuner)


def _write(tuner: Tuner) -> None:
    """Write the best plan's options, and the report."""
    from hybridalloc.compiler.deploying import write_deployment
    from hybridalloc.report.tuning import tuning_json, tuning_page

    report = json.dumps(tuning_json(tuner), indent=2, ensure_ascii=False) + "\n"
    deployment = tuner.settings()
    with postponed():
        write_text(tuner.folder / "report.json", report)
        write_text(tuner.folder / "report.md", tuning_page(tuner))
        for name in ("options.json", "options.sh"):
            path = tuner.folder / name
            if deployment is None:
                path.unlink(missing_ok=True)
            else:
                write_deployment(deployment, path)
