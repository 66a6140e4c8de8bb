"""Which window is solved next, and which buffers may change in it."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cpsat_models.windows.options import WindowsConfig
from hybridalloc.cpsat_models.windows.surroundings import Crossing, Window
from hybridalloc.problem import Problem
from hybridalloc.program import Program

GROWTH = 1.15
"""By which factor windows grow when they are solved, and shrink when they are not."""
LEAST = 4
"""No fewer buffers may change in a window."""


class Choice:
    """Draws windows, where they are worth most, of a size that is solved."""

    def __init__(self, problem: Problem, config: WindowsConfig, random: Random) -> None:
        self._problem = problem
        self._config = config
        self._random = random
        self._size = float(config.buffers)
        """How many buffers may change."""

    def window(self, density: Floats) -> Window | None:
        """A window around an instruction that is drawn, if any can be.

        Args:
            density: (T,), of the draw, times anything: as of ``mixed``.
        """
        total = np.cumsum(density)
        if not total.size or total[-1] <= 0:
            return None
        at = np.searchsorted(total, self._random.random() * total[-1], side="right")
        middle = min(int(at), len(total) - 1)
        width = round(
            self._size
            * self._random.uniform(self._config.narrowest, self._config.widest)
        )
        low = middle - self._random.randrange(width + 1)
        return widened(self._problem.program, low, low + max(1, width))

    def buffers(self, crossings: Iterable[Crossing]) -> list[Crossing]:
        """Those that may change: rather the large ones."""
        program = self._problem.program
        free = [x for x in crossings if x.is_free]
        if len(free) > self._size:
            keys = {
                x.buffer: program.buffers[x.buffer].size
                * self._random.random() ** self._config.randomness
                for x in free
            }
            free.sort(key=lambda x: (-keys[x.buffer], x.buffer))
            free = sorted(free[: int(self._size)], key=lambda x: x.buffer)
        return free

    def learn(self, *, solved: bool) -> None:
        """Make windows larger if one was solved, or smaller."""
        size = self._size * (GROWTH if solved else 1 / GROWTH)
        most = max(LEAST, len(self._problem.program.buffers))
        self._size = min(max(size, LEAST), most)


def mixed(lost: Floats, proposed: Floats) -> Floats:
    """(T,): one half where time is lost, the other as proposed; 0 if none is lost.

    Args:
        lost: (T,): seconds.
        proposed: (T,): in any unit; all 0 proposes nothing.
    """
    if not (lost.any() and proposed.any()):
        return lost
    result: Floats = lost / lost.sum() + proposed / proposed.sum()
    return result


def widened(program: Program, low: int, high: int) -> Window:
    """The window, or the least one around it that holds no loop in part.

    A loop may be around the whole window, with instructions before it and after it.
    """
    low, high = max(0, low), min(len(program), high)
    changed = True
    while changed:
        changed = False
        for loop in program.loops:
            apart = loop.end <= low or high <= loop.start
            within = low <= loop.start and loop.end <= high
            around = loop.start < low and high < loop.end
            if not (apart or within or around):
                low, high = min(low, loop.start), max(high, loop.end)
                changed = True
    return Window(low, high)
