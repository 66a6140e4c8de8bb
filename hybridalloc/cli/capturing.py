"""``capture``: a workload folder of any program that the compiler can compile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.output import progress, show
from hybridalloc.errors import UsageError

Program = Annotated[
    str,
    typer.Argument(
        metavar="FILE.py:FUNCTION", help="A JAX function.", show_default=False
    ),
]
Arguments = Annotated[
    str,
    typer.Option(
        "--args",
        metavar="SPEC",
        help="What it is called with: shapes such as bf16[64,4096],f32[10], or the "
        "name of a function in the file that returns the arguments.",
        show_default=False,
    ),
]
CompilerTarget = Annotated[
    str, typer.Option("--target", metavar="tpu-v4i|tpu-v4|tpu-v5e", help="The chip.")
]
CompilerOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the compiler; may be given several times.",
        show_default=False,
    ),
]


def capture(
    program: Program,
    arguments: Arguments,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="The workload folder; a workload that it holds is replaced.",
            show_default=False,
        ),
    ],
    target: CompilerTarget = "tpu-v4i",
    cycles: Annotated[
        bool,
        typer.Option(
            "--cycles", help="Compile to the end, twice, for cycle estimates."
        ),
    ] = False,
    option: CompilerOptions = None,
    time_limit: Annotated[
        float, typer.Option(min=0, metavar="SEC", help="Seconds for each compile.")
    ] = 600,
) -> int:
    """Compile a JAX function without a TPU, and save the program."""
    from hybridalloc.compiler.capture import capture_source
    from hybridalloc.compiler.source import in_file
    from hybridalloc.io.target_file import get_target
    from hybridalloc.io.xla.dump import read_dump

    source = in_file(program, arguments)
    with progress() as step:
        step(f"compiling {source.function} for {target}")
        capture_source(
            source,
            target,
            out,
            cycles=cycles,
            options=compiler_options(option or []),
            time_limit=time_limit,
        )
        step(f"reading {out.name}")
        found = read_dump(out, get_target(target)).program
    observed = sum(bool(i.observations) for i in found.instructions)
    estimated = f", {observed:,} of them with cycle estimates" if cycles else ""
    show(
        f"{out}: {len(found):,} instructions{estimated}, {len(found.buffers):,} "
        f"buffers, {target}"
    )
    return Exit.ANSWER


def compiler_options(given: list[str]) -> dict[str, str]:
    """The options that ``NAME=VALUE`` name.

    Raises:
        UsageError: One of them is not of this form.
    """
    pairs = [text.partition("=") for text in given]
    for text, (name, equals, _) in zip(given, pairs, strict=True):
        if not (name and equals):
            raise UsageError(f"--option {text!r}: expected NAME=VALUE")
    return {name.removeprefix("--"): value for name, _, value in pairs}
