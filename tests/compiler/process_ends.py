"""Whether processes are still there."""

from __future__ import annotations

import time
from pathlib import Path


def is_running(process: int) -> bool:
    """Whether a process is there, and not merely waited for."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def has_ended(process: int) -> bool:
    """Whether a process ends soon."""
    deadline = time.monotonic() + 10
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(process)
