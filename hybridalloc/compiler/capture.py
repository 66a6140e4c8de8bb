"""A workload folder of any program that the compiler can compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybridalloc.compiler.task import TIME_LIMIT_S

if TYPE_CHECKING:  # loaded where it is used, since whoever captures nothing needs none
    from hybridalloc.compiler.source import Source

DEFAULT_TARGET = "tpu-v4i"
_CROSSING = "xla_max_cross_program_prefetches"


def capture(
    function: Callable[..., Any],
    *arguments: Any,
    target: str = DEFAULT_TARGET,
    out: Path | str,
    cycles: bool = False,
    options: Mapping[str, str] | None = None,
    time_limit: float = TIME_LIMIT_S,
) -> Path:
    """Compile a JAX function ahead of time and save what there is to be mapped.

    No TPU is needed. The compiler runs in a process of its own, which takes the
    function and the arguments pickled and ends when the folder's files are complete.

    Args:
        function: Any function of arrays; what ``jax.jit`` made stays as it is, with
            its donated and static arguments.
        *arguments: Arrays, ``jax.ShapeDtypeStruct``, or pytrees of them; only shapes
            and types matter.
        target: ``tpu-v4i``, ``tpu-v4`` or ``tpu-v5e``.
        out: The workload folder to write; an older workload there is replaced.
        cycles: Compile to the end, twice, for the compiler's cycle estimates.
        options: The ``compiler_options`` of jax's ``compile``.
        time_limit: Seconds for each compile.

    Returns:
        The folder.

    Raises:
        CompilerError: The compile failed, took longer, or jax is not installed.
        UsageError: The target is unknown, or ``out`` holds something else.
    """
    from hybridalloc.compiler.source import of_function

    return capture_source(
        of_function(function, arguments),
        target,
        Path(out),
        cycles=cycles,
        options=options or {},
        time_limit=time_limit,
    )


def capture_source(
    source: Source,
    target: str,
    out: Path,
    *,
    cycles: bool,
    options: Mapping[str, str],
    time_limit: float = TIME_LIMIT_S,
) -> Path:
    """Capture a program, wherever it comes from; takes and raises as ``capture``."""
    from hybridalloc.compiler.compilation import Request, Settings, Stage, compile_all
    from hybridalloc.compiler.folders import beside, replace_folder, require_replaceable
    from hybridalloc.compiler.topology import get_topology

    get_topology(target)
    require_replaceable(out)
    stage = Stage.CODE if cycles else Stage.ASSIGNMENT
    with beside(out) as place:
        placed, all_slow = place / "placed", place / "slow"
        requests = [Request(source, target, Settings(options), stage, placed)]
        if cycles:
            unused = Settings({**options, _CROSSING: "0"}, fuel=0)
            requests.append(Request(source, target, unused, stage, all_slow))
        compile_all(requests, time_limit=time_limit)
        if cycles:
            _join(placed, all_slow)
        replace_folder(placed, out)
    return out


def _join(placed: Path, all_slow: Path) -> None:
    """Make the estimates of two compiles the cycles of the first."""
    from hybridalloc.compiler.estimates import read_estimates, write_cycles

    estimates, others = (
        read_estimates(folder / "estimates.csv.gz") for folder in (placed, all_slow)
    )
    write_cycles(placed / "cycles.csv.gz", estimates, others)
    (placed / "estimates.csv.gz").unlink()
