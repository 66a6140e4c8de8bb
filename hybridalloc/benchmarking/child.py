"""The process of one trial: ``python -m hybridalloc.benchmarking.child FOLDER``.

The first line of its standard input is the task, as JSON; its record goes to the
folder. The end of standard input means that who wanted it is gone: then it ends, with
all processes that the strategy started.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

from pydantic import TypeAdapter

from hybridalloc.benchmarking.performing import Task, perform
from hybridalloc.benchmarking.records import RecordFolder

STDIN = 0


def main(folder: str) -> None:
    """Do the task that standard input says."""
    task = TypeAdapter(Task).validate_json(_read_line())
    threading.Thread(target=_end_when_alone, daemon=True).start()
    RecordFolder(Path(folder)).write(perform(task))


def encode(task: Task) -> bytes:
    """The line for a task."""
    return json.dumps(TypeAdapter(Task).dump_python(task, mode="json")).encode() + b"\n"


def _read_line() -> bytes:
    """Byte by byte, past Python's buffers, which a waiting thread would hold."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(STDIN, 1)):
        line += byte
    return line


def _end_when_alone() -> None:
    while os.read(STDIN, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
