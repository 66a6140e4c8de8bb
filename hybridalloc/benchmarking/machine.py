"""The machine that trials run on: what it is, and how many of them it takes."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path

from hybridalloc.errors import UsageError

_CPUINFO = Path("/proc/cpuinfo")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def most_processes(workers: int, asked: int | None, available: int) -> int:
    """How many trials run at a time, so that no core has two things to do.

    Args:
        workers: How many processes or threads each trial has.
        asked: How many trials at a time the user wants; as many as fit if not given.
        available: Cores.

    Raises:
        UsageError: So many do not fit.

    >>> most_processes(2, None, 5)
    2
    """
    if workers > available:
        raise UsageError(f"{workers} workers: expected at most the cores, {available}")
    if asked is None:
        return available // workers
    if asked * workers > available:
        raise UsageError(
            f"{asked} processes of {workers} workers: expected at most the cores, "
            f"{available}"
        )
    return asked


def machine() -> str:
    """The processor, the system and the Python that runs, in words."""
    system = f"{platform.system()} {platform.machine()}"
    return f"{_processor()}, {system}, Python {platform.python_version()}"


def _processor() -> str:
    with suppress(OSError):
        for line in _CPUINFO.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown processor"
