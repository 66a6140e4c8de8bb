"""Running the process that compiles, until what is wanted of it is there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hybridalloc.compiler.source import EXTRA
from hybridalloc.compiler.task import Culprit, Fault
from hybridalloc.errors import CompilerError

_ROOM_BYTES = 2**20
"""With less than this left, a disk counts as full."""
_TOLD_BYTES = 20_000
"""How much of the end of what the compiler has told is looked at."""
_TELLING = re.compile(r"F\d{4} .*?\] ?(.*)|.*?\b(Check failed: .*)|(\w+Error: .*)")
"""Lines that tell why a process ends: a fatal one, a failed check, an exception."""


@dataclass
class CompilerProcess:
    """A process that compiles, in a process group of its own."""

    name: str
    """What it compiles."""
    folder: Path
    """Where its task is, and where it says what went wrong."""
    environment: Mapping[str, str]
    is_done: Callable[[], bool]
    """Whether what is wanted of it is there."""
    time_limit: float
    """Seconds."""
    since: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._told: IO[bytes] = (self.folder / "stderr.txt").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hybridalloc.compiler.child", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._told,
            env={**os.environ, **_search_path(), **self.environment},
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
        )

    def has_finished(self) -> bool:
        """Whether what is wanted is there.

        Raises:
            CompilerError: It will never be: the process has ended without it, or has
                used up its time.
        """
        has_ended = self._process.poll() is not None  # first: it may end in between
        if self.is_done():
            return True
        if has_ended:
            raise CompilerError(f"{self.name}: {self._failure()}")
        if time.monotonic() > self.since + self.time_limit:
            raise CompilerError(
                f"{self.name}: still compiling after the time limit of "
                f"{self.time_limit:g} s"
            )
        return False

    def end(self) -> None:
        """End it and every process that it has started."""
        with suppress(ProcessLookupError, PermissionError):  # gone, or about to be
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._told.close()

    def _failure(self) -> str:
        """Why it has ended too early."""
        fault = Fault.read(self.folder)
        if fault is not None:
            return _FAULTS[fault.culprit].format(fault.message)
        if shutil.disk_usage(self.folder).free < _ROOM_BYTES:
            return "no space left on the disk that the workload goes to"
        code = self._process.returncode
        if code == 0:
            return (
                "the compiler has left no dump of memory space assignment; expected "
                "options that leave it on"
            )
        how = f"ended with code {code}"
        if code < 0:
            how = f"was ended by {signal.Signals(-code).name}"
        told = self._last_told()
        return f"the compiler {how}{': ' if told else ''}{told}"

    def _last_told(self) -> str:
        """The line, if any, that tells why it has ended."""
        self._told.seek(max(0, self._told.seek(0, os.SEEK_END) - _TOLD_BYTES))
        lines = self._told.read().decode(errors="replace").split("\n")
        telling = filter(None, map(_TELLING.match, lines))
        why = [next(filter(None, match.groups()), "") for match in telling]
        return why[-1].strip() if why else ""


_FAULTS = {
    Culprit.EXTRA: f"the compiler is not installed ({{}}): {EXTRA}",
    Culprit.PROGRAM: "the program fails: {}",
    Culprit.COMPILER: "the compiler refuses the program: {}",
}


def _search_path() -> dict[str, str]:
    """Modules are found where this process finds them."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return {"PYTHONPATH": path}
