"""Trials in processes of their own, so many at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from hybridalloc.benchmarking.child import encode
from hybridalloc.benchmarking.performing import Task
from hybridalloc.benchmarking.records import RecordFolder, TrialRecord

GRACE_S = 600.0
"""How long a trial may take beyond its time limit: to read, to check, to execute."""
_POLL_S = 0.02
_TOLD_BYTES = 2000
"""How much of the end of what a process has told is looked at for its last line."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads a library of linear algebra takes."""

Watch = Callable[[list[Task], Task | None], None]
"""Is told of the trials that run, and of the one that has just ended, if any."""


@dataclass
class _Child:
    """A process that does a trial."""

    task: Task
    begun: TrialRecord
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    """What it writes to its standard error."""
    since: float = field(default_factory=time.monotonic)

    @property
    def late(self) -> bool:
        limit = self.task.trial.time_limit_s + GRACE_S
        return time.monotonic() > self.since + limit

    def end(self) -> None:
        """End it and every process that it has started."""
        with suppress(ProcessLookupError, PermissionError):  # gone, or about to be
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def failure(self, reason: str) -> TrialRecord:
        """The record of a trial that left none."""
        self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - _TOLD_BYTES))
        told = self.errors.read().decode(errors="replace").strip().splitlines()
        reason = f"{reason}: {told[-1].strip()}" if told else reason
        facts = replace(self.begun.facts, reason=reason)
        return replace(self.begun, facts=facts)


def perform_all(
    tasks: Iterable[Task], folder: RecordFolder, processes: int, watch: Watch
) -> None:
    """Do trials, so many at a time, and keep the record of each as it ends.

    Ctrl-C, or any error, ends those that run, which then leave no record.

    Args:
        tasks: What to do, in this order.
        folder: Where the records go.
        processes: How many at a time.
        watch: Is told how it goes.
    """
    running: list[_Child] = []
    waiting = iter(tasks)
    try:
        while True:
            while len(running) < processes and (task := next(waiting, None)):
                running.append(_start(task, folder))
                watch([child.task for child in running], None)
            if not running:
                return
            for child in _ended(running):
                _settle(child, folder)
                running.remove(child)
                watch([child.task for child in running], child.task)
            time.sleep(_POLL_S)
    finally:
        for child in running:
            child.end()
            child.errors.close()
            folder.file(child.task.trial).unlink(missing_ok=True)


def _start(task: Task, folder: RecordFolder) -> _Child:
    folder.file(task.trial).unlink(missing_ok=True)
    begun = task.unfinished()
    errors = TemporaryFile()  # noqa: SIM115 (closed when the child has ended)
    process = subprocess.Popen(
        [sys.executable, "-m", "hybridalloc.benchmarking.child", str(folder.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={**os.environ, **_environment(task.trial.workers)},
        start_new_session=True,  # Ctrl-C is for this process, which ends the others
    )
    child = _Child(task, begun, process, errors)
    with suppress(BrokenPipeError):  # it ended at once: told later
        assert process.stdin is not None
        process.stdin.write(encode(task))
        process.stdin.flush()
    return child


def _environment(workers: int) -> dict[str, str]:
    path = os.pathsep.join(str(Path(x).absolute()) for x in sys.path)
    return {"PYTHONPATH": path, **dict.fromkeys(_THREADS, str(workers))}


def _ended(running: list[_Child]) -> Iterator[_Child]:
    for child in list(running):
        if child.process.poll() is not None or child.late:
            yield child


def _settle(child: _Child, folder: RecordFolder) -> None:
    """See to it that there is a record of a trial that has ended, or has to."""
    late = child.process.poll() is None
    child.end()
    if not folder.file(child.task.trial).exists():
        code = child.process.returncode
        reason = f"the process ended with code {code}"
        if late:
            reason = f"still at work {GRACE_S:g} s after its time limit"
        folder.write(child.failure(reason))
    child.errors.close()
