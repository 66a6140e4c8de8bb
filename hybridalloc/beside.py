"""Work beside the main thread, which alone hears Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import suppress

from hybridalloc.interruption import postponed

_POLL_S = 0.05


def beside(
    work: Callable[[], object], stop: Callable[[], None]
) -> Generator[None, None, None]:
    """Do some work in a thread of its own, and look up from time to time until it ends.

    It has ended when the iteration has, and also when that is given up: by closing the
    iterator, or by Ctrl-C.

    Args:
        work: What is done, and raises nothing.
        stop: Makes the work end soon; may be called before it has begun.

    Yields:
        Nothing, from time to time.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    # Not Thread.join: interrupted, it may take a thread that runs for one that ended.
    ended = threading.Event()

    def run() -> None:
        try:
            work()
        finally:
            ended.set()

    thread = threading.Thread(target=run, daemon=True)
    try:
        with postponed():
            thread.start()
        while not ended.wait(_POLL_S):
            yield
    finally:
        while thread.ident is not None and not ended.is_set():
            with suppress(KeyboardInterrupt):  # what works must not outlive Python
                stop()
                ended.wait(_POLL_S)
