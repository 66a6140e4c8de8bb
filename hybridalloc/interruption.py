"""Ctrl-C, remembered."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType


class Interruption:
    """Within its block, Ctrl-C ends what runs as usual and is remembered.

    A search or a lower bound answers Ctrl-C with the best so far; who has more to do
    after it has to know that it happened. Blocks may be nested: all remember it.
    """

    def __init__(self) -> None:
        self.happened = False
        self._previous: Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> Interruption:
        previous = signal.getsignal(signal.SIGINT)
        if callable(previous) and threading.current_thread() is threading.main_thread():
            self._previous = previous
            signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        if self._previous is not None:
            self._previous(number, frame)


def is_interrupt(error: BaseException) -> bool:
    """Whether an error stands for Ctrl-C: so compiled code hands it on."""
    cause = error.__cause__ if isinstance(error, SystemError) else error
    return isinstance(cause, KeyboardInterrupt)
