"""The commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from hybridalloc.cli import (
    answers,
    bench,
    capturing,
    comparison,
    deploying,
    inspection,
    listings,
    picture,
    proofs,
    training,
    tuning,
    understanding,
)
from hybridalloc.cli.output import show
from hybridalloc.version import package_version

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.")
    ] = False,
) -> None:
    """Decide which tensors of a compiled ML program are in fast memory, when and where.

    Exit codes: 0 an answer; 1 proven infeasible, or the check failed; 2 bad input or
    usage; 3 no answer within the limit; 70 a defect in hybridalloc; 74 stdout is full
    or closed; 130 interrupted before there was an answer.
    """
    if show_version:
        show(f"hybridalloc {package_version()}")
    elif context.invoked_subcommand is None:
        show(context.get_help().rstrip())


_COMMANDS: dict[str, Callable[..., int]] = {
    "solve": answers.solve,
    "compare": comparison.compare,
    "bench": bench.bench,
    "bound": proofs.bound,
    "verify": proofs.verify,
    "check": inspection.check,
    "info": inspection.info,
    "convert": inspection.convert,
    "capture": capturing.capture,
    "apply": deploying.apply,
    "tune": tuning.tune,
    "train": training.train,
    "explain": understanding.explain,
    "diff": understanding.diff,
    "show": picture.picture,
    "strategies": listings.strategies,
    "targets": listings.targets,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)
