"""Several searches in turn, or at a time, until one of them knows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from hybridalloc.baselines.static.branch_and_bound.descent import Descent
from hybridalloc.solver import Run

AT_ONCE = 10_000
"""So many nodes are visited between two looks at the clock."""
FIRST = 3
"""So many searches take turns from the beginning."""
LONG = 500_000
"""After a round in which each had so many nodes, one more joins, as after all later."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a search does next."""

    descent: Descent
    nodes: int
    is_last: bool
    """Whether it is the last of its round."""


def rotate(descents: Iterator[Descent], first_nodes: int, run: Run) -> Descent | None:
    """Let searches take turns, each twice as long as the one before.

    Args:
        descents: Searches for the same, in different orders.
        first_nodes: How many nodes each visits in its first turn.
        run: Limits; with several workers as many searches go on at a time.

    Returns:
        The first that knows whether there are offsets; ``None`` at the deadline.
    """
    return _Rotation(descents, first_nodes, run).go()


class _Rotation:
    """The searches whose turn is still to come."""

    def __init__(self, descents: Iterator[Descent], first_nodes: int, run: Run) -> None:
        self._descents, self._run = descents, run
        first = list(islice(descents, FIRST))
        self._waiting = deque(_Turn(x, first_nodes, x is first[-1]) for x in first)
        self._lock = threading.Lock()
        self._winner: Descent | None = None
        self._is_over = False

    def go(self) -> Descent | None:
        """Run to the end."""
        workers = min(self._run.workers, FIRST)
        if workers == 1:
            self._work()
        else:
            with ThreadPoolExecutor(workers) as pool:
                try:
                    for each in [pool.submit(self._work) for _ in range(workers)]:
                        each.result()
                finally:
                    self._is_over = True  # for the others, where one has failed
        return self._winner

    def _is_done(self) -> bool:
        return self._is_over or self._winner is not None or self._run.expired

    def _work(self) -> None:
        """Take one turn after the other."""
        while not self._is_done():
            with self._lock:
                if not self._waiting:
                    return
                turn = self._waiting.popleft()
            self._take(turn)
            is_joined = turn.is_last and turn.nodes >= LONG
            is_last = turn.is_last and not is_joined
            with self._lock:
                self._waiting.append(_Turn(turn.descent, 2 * turn.nodes, is_last))
                if is_joined:
                    added = next(self._descents)
                    self._waiting.append(_Turn(added, 2 * turn.nodes, is_last=True))

    def _take(self, turn: _Turn) -> None:
        for _ in range(0, turn.nodes, AT_ONCE):
            if self._is_done():
                return
            turn.descent.go_on(AT_ONCE)
            if turn.descent.is_done:
                self._winner = self._winner or turn.descent
                return
