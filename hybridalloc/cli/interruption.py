"""Ctrl-C, remembered."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType


class Interruption:
    """Within its block, Ctrl-C ends the search as usual and is remembered.

    ``solve`` answers Ctrl-C with the best map so far; who solves several problems in a
    row has to know that it happened.
    """

    def __init__(self) -> None:
        self.happened = False

    def __enter__(self) -> Interruption:
        self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        raise KeyboardInterrupt
