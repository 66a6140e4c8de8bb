"""A walker: one search through the maps of a problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import accumulate

import numpy as np

from hybridalloc.cpsat_models.search.annealing import anneal, restore, snapshot
from hybridalloc.cpsat_models.search.workspace import Goal, Workspace
from hybridalloc.incremental import tables
from hybridalloc.memory_map import MemoryMap
from hybridalloc.ranges import require_within
from hybridalloc.stays import Stay


@dataclass(frozen=True, slots=True)
class MoveShares:
    """How often each kind of move is made, relative to the others."""

    displace: float = 5.0
    """Place a stay where what is in its way is worth least."""
    ruin: float = 0.5
    """Take out allocations around an instruction and place others there."""
    resize: float = 1.0
    """Place another stay instead of one of the same buffer."""
    reissue: float = 2.0
    """Issue copies at other points."""
    remove: float = 0.5
    """Take out an allocation."""
    exchange: float = 0.3
    """Choose another cross-program prefetch."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            require_within(name, getattr(self, name), 0)

    @property
    def cumulative(self) -> tuple[float, ...]:
        """The shares up to and with each, of all."""
        sums = list(accumulate(astuple(self)))
        total = sums[-1] or 1.0
        return tuple(x / total for x in sums)


class Walker:
    """Makes moves from map to map."""

    def __init__(
        self,
        goal: Goal,
        stays: Sequence[Stay],
        crosses: Sequence[Stay],
        start: MemoryMap,
        shares: MoveShares,
        seed: int,
    ) -> None:
        """Begin with a map.

        Args:
            goal: What is minimised.
            stays: What may be placed.
            crosses: What may be the cross-program prefetch.
            start: A valid map.
            shares: How often moves are made.
            seed: Of what is drawn.
        """
        self._workspace = Workspace(goal, stays, crosses, start)
        self._shares = shares.cumulative
        self._random = np.random.default_rng(seed)
        slots = len(self._workspace.state.slots)
        self._best = np.zeros((slots + 1, tables.SLOT_COLUMNS), dtype=np.int64)
        self.start = self._workspace.objective
        """The objective of the map at the start."""
        self._status = np.full(2, self.start)
        self._scale = self.start if math.isfinite(self.start) else 1.0
        snapshot(self._workspace.directories[1], self._best)

    @property
    def stays(self) -> int:
        """How many stays there are that could be placed."""
        return len(self._workspace.world.stays)

    @property
    def best(self) -> float:
        """The objective of the best map so far."""
        return float(self._status[1])

    def walk(self, temperature: float, count: int) -> int:
        """Make moves: how many, fewer if the map has no room to grow.

        Args:
            temperature: As a share of the objective at the start.
            count: How many.
        """
        return anneal(
            *self._workspace.directories,
            self._shares,
            temperature * self._scale,
            count,
            self._best,
            self._status,
            self._random,
        )

    def join(self, other: Walker) -> None:
        """Go on from the best map of another walker."""
        self._best[:] = other._best
        self._status[1] = other._status[1]
        self._status[0] = restore(*self._workspace.directories, self._best)

    def memory_map(self) -> MemoryMap:
        """The best map so far."""
        return self._workspace.memory_map(self._best[: self._best[-1, 0]])
