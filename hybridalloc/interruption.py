"""Ctrl-C, remembered."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def until_interrupt() -> Iterator[None]:
    """Within this block, Ctrl-C ends what runs, and all is well behind it."""
    try:
        yield
    except (KeyboardInterrupt, *STAND_INS) as error:
        if not is_interrupt(error):
            raise


@contextmanager
def postponed() -> Iterator[None]:
    """Within this block, Ctrl-C waits until its end.

    For what must not be left half done, such as the loading of compiled code.
    """
    previous = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not (callable(previous) and in_main):
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *given: arrived.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if arrived:
            previous(*arrived[0])


STAND_INS = (SystemError, ImportError)
"""What compiled code, and modules that are being loaded, hand on instead of Ctrl-C."""


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, or stands for it."""
    cause = error.__cause__ if isinstance(error, STAND_INS) else error
    return isinstance(cause, KeyboardInterrupt)
