"""The best map that playing has come to so far."""

from __future__ import annotations

import math

from hybridalloc.game.fast import Position
from hybridalloc.memory_map import MemoryMap
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run

LEAST_GAIN = 1e-9
"""A map must save this share of the time, so that rounding decides nothing."""


class BestMap:
    """The best map so far; reports each."""

    def __init__(self, simulator: Simulator, run: Run, first: MemoryMap) -> None:
        """Begin with a map.

        Args:
            simulator: Of the problem.
            run: Takes the reports.
            first: Any valid map.
        """
        self._simulator, self._run = simulator, run
        self.map, self.seconds = first, math.inf
        self.start_from(first)

    def start_from(self, known: MemoryMap) -> None:
        """Take a map that no episode has found."""
        seconds = self._simulator.simulate(known).time_s
        if seconds < self.seconds:
            self._take(known, seconds)

    def offer(self, end: Position) -> None:
        """Take the map of an episode if it is better."""
        if end.time_s < self.seconds * (1 - LEAST_GAIN):
            self._take(end.memory_map(), end.time_s)

    def _take(self, found: MemoryMap, seconds: float) -> None:
        self.map, self.seconds = found, seconds
        self._run.report(found)
