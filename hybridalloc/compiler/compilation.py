"""Compiling a program ahead of time, as far as needed, to a workload folder."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hybridalloc.compiler import dumps
from hybridalloc.compiler.estimates import estimates_in, write_estimates
from hybridalloc.compiler.folders import beside, replace_folder, require_replaceable
from hybridalloc.compiler.process import CompilerProcess
from hybridalloc.compiler.source import Source, parse_shapes
from hybridalloc.compiler.task import DUMP, PICKLED, TIME_LIMIT_S, Task
from hybridalloc.compiler.topology import get_topology
from hybridalloc.errors import CompilerError
from hybridalloc.interruption import postponed
from hybridalloc.io.files import write_text
from hybridalloc.io.xla.captured import CAPTURE

_POLL_S = 0.02


class Stage(StrEnum):
    """How far a compile goes."""

    ASSIGNMENT = "assignment"
    """Until memory space assignment is done; then the process is ended."""
    CODE = "code"
    """Until code is generated, which tells the cycles of each instruction."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a compile is asked to do otherwise than by default."""

    options: Mapping[str, str] = field(default_factory=dict)
    """The ``compiler_options`` of jax's ``compile``."""
    fuel: int | None = None
    """How many buffers memory space assignment may place; ``None`` for all."""


@dataclass(frozen=True, slots=True)
class Request:
    """One compile."""

    source: Source
    target: str
    settings: Settings
    stage: Stage
    folder: Path
    """Where the workload goes: a folder that does not exist, is empty, or holds
    nothing but a workload."""


def compile_program(
    source: Source,
    target: str,
    settings: Settings,
    stage: Stage,
    folder: Path,
    *,
    time_limit: float = TIME_LIMIT_S,
) -> None:
    """Compile a program in a process of its own and write a workload folder.

    The folder appears complete or not at all. It holds ``before_msa.hlo.gz``,
    ``after_msa.hlo.gz``, ``bufferinfo.csv.gz``, ``allocinfo.csv.gz``,
    ``scheduleinfo.csv.gz`` and, for ``Stage.CODE``, ``estimates.csv.gz``.

    Args:
        source: The function and its arguments.
        target: The name of the target.
        settings: The compiler's options.
        stage: How far to compile.
        folder: Where the workload goes; an older one there is replaced.
        time_limit: Seconds.

    Raises:
        CompilerError: The compile failed, or took longer.
        UsageError: The target is unknown, or the folder holds something else.
    """
    request = Request(source, target, settings, stage, folder)
    compile_all([request], time_limit=time_limit)


def compile_all(
    requests: Sequence[Request], *, time_limit: float = TIME_LIMIT_S
) -> None:
    """Compile side by side, each as by ``compile_program``.

    Ctrl-C, or any error, ends them all; then no folder is written.

    Args:
        requests: What to compile; each has a process of its own.
        time_limit: Seconds for each.

    Raises:
        CompilerError: A compile failed, or took longer.
        UsageError: A target is unknown, or a folder holds something else.
    """
    for request in requests:
        get_topology(request.target)
        require_replaceable(request.folder)
    with ExitStack() as stack:
        places = [stack.enter_context(beside(r.folder)) for r in requests]
        _run(requests, places, time_limit)
        for request, place in zip(requests, places, strict=True):
            _write_workload(request, place)
        with postponed():
            for request, place in zip(requests, places, strict=True):
                replace_folder(place / "workload", request.folder)


def _run(requests: Sequence[Request], places: Sequence[Path], limit: float) -> None:
    """Compile until each has left in its place what is wanted."""
    running: list[CompilerProcess] = []
    try:
        for request, place in zip(requests, places, strict=True):
            running.append(_start(request, place, limit))
        while running:
            for process in [p for p in running if p.has_finished()]:
                process.end()
                running.remove(process)
            time.sleep(_POLL_S)
    finally:
        for process in running:
            process.end()


def _start(request: Request, place: Path, limit: float) -> CompilerProcess:
    source, topology = request.source, get_topology(request.target)
    shapes = None
    if "[" in source.arguments:
        shapes = tuple(parse_shapes(source.arguments))
    (place / PICKLED).write_bytes(source.pickled)
    Task(
        topology=topology.name,
        chips_per_host=topology.chips_per_host,
        options=dict(request.settings.options),
        file=None if source.path is None else str(source.path),
        function=source.function,
        shapes=shapes,
        arguments=source.arguments,
    ).write(place)
    dump = place / DUMP
    dump.mkdir()
    is_code = request.stage is Stage.CODE
    return CompilerProcess(
        source.name,
        place,
        _environment(request.settings),
        lambda: dumps.is_generated(dump) if is_code else dumps.is_assigned(dump),
        limit,
    )


def _environment(settings: Settings) -> dict[str, str]:
    """Variables of the process; they do not depend on the user's own flags."""
    xla, libtpu = dumps.flags()
    if settings.fuel is not None:
        xla.append(f"--xla_fuel=memory_space_assignment={settings.fuel}")
    return {
        "XLA_FLAGS": " ".join(xla),
        "LIBTPU_INIT_ARGS": " ".join(libtpu),
        "JAX_PLATFORMS": "cpu",  # there is no TPU to be looked for
        "JAX_ENABLE_COMPILATION_CACHE": "false",  # what it holds is not dumped
        "TPU_SKIP_MDS_QUERY": "1",
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    }


def _write_workload(request: Request, place: Path) -> None:
    """Make a workload folder in the place, of what the compiler has dumped."""
    workload, dump = place / "workload", place / DUMP
    workload.mkdir()
    try:
        for name, text in dumps.workload_texts(dump):
            write_text(workload / f"{name}.gz", text)
        if request.stage is Stage.CODE:
            fast_space = get_topology(request.target).fast_space
            estimates = estimates_in(dumps.generated_text(dump), fast_space)
            write_estimates(workload / "estimates.csv.gz", estimates)
    except (FileNotFoundError, ValueError) as error:
        raise CompilerError(
            f"{request.source.name}: expected what jax 0.10 dumps of memory space "
            f"assignment, with options that leave it on: {error}"
        ) from error
    write_text(workload / CAPTURE, _record(request))


def _record(request: Request) -> str:
    """What was compiled, for what, how and by what."""
    fields = {
        "program": request.source.label,
        "target": request.target,
        "stage": request.stage,
        "options": dict(request.settings.options),
        "fuel": request.settings.fuel,
        "jax": _version("jax"),
        "libtpu": _version("libtpu"),
    }
    return json.dumps(fields, indent=2) + "\n"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
