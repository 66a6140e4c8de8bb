"""Shares of the time that is left."""

from __future__ import annotations

import math
import time

from hybridalloc.solver import Run


def until_share(run: Run, share: float) -> float:
    """When a share of the time left has passed, in seconds of ``time.monotonic()``."""
    left_s = run.remaining_s
    return math.inf if math.isinf(left_s) else time.monotonic() + share * left_s
