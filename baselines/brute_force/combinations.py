"""The search over the combinations of choices that serve the same accesses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.brute_force.costs import ROUNDING, Clock, orders
from hybridalloc.baselines.brute_force.options import Option, Shared
from hybridalloc.baselines.brute_force.placement import Placement
from hybridalloc.memory_map import MemoryMap
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run


@dataclass
class Best:
    """The best map so far, which is reported."""

    simulator: Simulator
    run: Run
    map: MemoryMap | None = None
    seconds: float = math.inf
    cutoff_s: float = math.inf
    """Maps that take longer are of no interest for the moment."""
    any_will_do: bool = False
    """Whether for the moment the first map is good enough."""

    def offer(self, memory_map: MemoryMap) -> None:
        """Take a valid map if it is better."""
        seconds = self.simulator.evaluate(self.simulator.encode(memory_map))
        if not self.rules_out(seconds):
            self.map, self.seconds = memory_map, seconds
            self.run.report(memory_map)

    def rules_out(self, seconds: float) -> bool:
        """Whether a map that takes at least so long is of no interest."""
        if self.any_will_do and self.map is not None:
            return True
        return seconds >= min(self.seconds, self.cutoff_s) * (1 - ROUNDING)


class Combinations:
    """The combinations of choices that serve the same accesses.

    One of some buffers' choices is given up where it takes more than there is of what
    buffers share, finds no offsets, or already takes too long: what the others copy
    only adds to that.
    """

    def __init__(
        self,
        best: Best,
        shared: Shared,
        clock: Clock,
        options: Sequence[Sequence[Option]],
    ) -> None:
        self._best, self._shared, self._clock = best, shared, clock
        timed = [
            sorted(
                ((self._fastest((x,))[0], i, x) for i, x in enumerate(each)),
                key=lambda entry: entry[:2],
            )
            for each in options
        ]
        self._options = sorted(timed, key=len)
        least = [min(x.busy_s for _, _, x in each) for each in self._options]
        self._later_s = [sum(least[i + 1 :]) for i in range(len(least))]
        """For each buffer, the seconds that slow memory is busy with those after."""

    def all(self) -> None:
        """Search them to the end; report what is better than the best map.

        Raises:
            TimeoutError: At the deadline.
        """
        self._extend((), np.zeros_like(self._shared.limits), 0.0)

    def _extend(self, chosen: tuple[Option, ...], taken: Ints, busy_s: float) -> None:
        depth = len(chosen)
        if depth == len(self._options):
            self._finish(chosen)
            return
        best, limits = self._best, self._shared.limits
        for alone_s, _, option in self._options[depth]:
            if best.rules_out(alone_s):
                return
            if best.run.expired:
                raise TimeoutError
            busy = busy_s + option.busy_s
            if best.rules_out((busy + self._later_s[depth]) * (1 - ROUNDING)):
                continue
            total, more = taken + option.takes, (*chosen, option)
            if (total > limits).any():
                continue
            if chosen and option.queued and best.rules_out(self._fastest(more)[0]):
                continue
            if self._offsets(more) is not None:
                self._extend(more, total, busy)

    def _offsets(self, chosen: Sequence[Option]) -> tuple[int, ...] | None:
        groups = tuple(sorted(group for x in chosen for group in x.groups))
        return self._shared.placement.offsets(groups)

    def _fastest(self, chosen: Sequence[Option]) -> tuple[float, tuple[int, ...]]:
        """The least time over the orders of the copied allocations, and the order."""
        queued = [entry for option in chosen for _, entry in option.queued]
        return min(
            (self._clock.seconds([queued[i] for i in order]), order)
            for order in orders(queued)
        )

    def _finish(self, chosen: Sequence[Option]) -> None:
        best = self._best
        seconds, order = self._fastest(chosen)
        if best.rules_out(seconds):
            return
        best.offer(placed_map(self._shared.placement, chosen, order))


def placed_map(
    placement: Placement, chosen: Sequence[Option], order: Sequence[int]
) -> MemoryMap:
    """The map of some choices: what is copied in this order, then the rest.

    Args:
        placement: Knows places for the groups of the choices.
        chosen: One for each buffer.
        order: Of the allocations that are copied.
    """
    groups = [
        (x, k) for x, option in enumerate(chosen) for k in range(len(option.groups))
    ]
    groups.sort(key=lambda at: chosen[at[0]].groups[at[1]])
    found = placement.offsets(tuple(chosen[x].groups[k] for x, k in groups))
    if found is None:
        raise ValueError("no offsets for choices that were found to have some")
    places = dict(zip(groups, found, strict=True))
    allocations = {
        (x, i): replace(option.choice.allocations[i], offset=places[x, k])
        for x, option in enumerate(chosen)
        for k, members in enumerate(option.choice.groups)
        for i in members
    }
    copied = [(x, i) for x, option in enumerate(chosen) for i, _ in option.queued]
    first = [copied[i] for i in order]
    rest = [key for key in allocations if key not in first]
    return MemoryMap(tuple(allocations[key] for key in (*first, *rest)))
