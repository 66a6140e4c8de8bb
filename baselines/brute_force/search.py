"""The search over all combinations of the choices for each buffer."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.brute_force.choices import Choice
from hybridalloc.baselines.brute_force.costs import Clock, RunningTimes, orders
from hybridalloc.baselines.brute_force.options import Option, Shared
from hybridalloc.baselines.brute_force.placement import Placement
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run

ROUNDING = 1e-12
"""Maps whose times differ by no more than this share are equally good."""
Served = tuple[int, ...]
"""For each buffer, the instructions whose access fast memory serves, as a mask."""


@dataclass
class Best:
    """The best map so far, which is reported."""

    simulator: Simulator
    run: Run
    map: MemoryMap | None = None
    seconds: float = field(default=math.inf)

    def offer(self, memory_map: MemoryMap) -> None:
        """Take a valid map if it is better."""
        seconds = self.simulator.evaluate(self.simulator.encode(memory_map))
        if not self.rules_out(seconds):
            self.map, self.seconds = memory_map, seconds
            self.run.report(memory_map)

    def rules_out(self, seconds: float) -> bool:
        """Whether a map that takes at least so long is no better."""
        return seconds >= self.seconds * (1 - ROUNDING)


class Search:
    """The best map over all combinations of the choices for each buffer.

    Combinations that serve the same accesses are searched together: the time in which
    their instructions run is known, and stalls only add to it. They are taken in order
    of that time until it exceeds that of the best map.
    """

    def __init__(self, problem: Problem, run: Run) -> None:
        self._problem, self._run = problem, run
        self.best = Best(Simulator(problem), run)
        self.placement = Placement(problem)
        self.shared = Shared(problem, self.placement)

    def all(self, choices: Sequence[Sequence[Choice]]) -> bool:
        """Search to the end, or for as many iterations as the run allows.

        Args:
            choices: For each buffer.

        Returns:
            Whether it came to the end.

        Raises:
            TimeoutError: At the deadline.
        """
        options = [self._by_served(b, each) for b, each in enumerate(choices)]
        for number, served in enumerate(self._in_order(options)):
            if number == self._run.iterations:
                return False
            chosen = [options[b][x] for b, x in enumerate(served)]
            clock = Clock(self.best.simulator, served)
            Combinations(self, clock, chosen, self._run).all()
        return True

    def _by_served(
        self, buffer: int, choices: Sequence[Choice]
    ) -> dict[int, list[Option]]:
        options: dict[int, list[Option]] = defaultdict(list)
        for option in self.shared.options(buffer, choices):
            options[option.choice.served].append(option)
        return options

    def _in_order(self, options: Sequence[dict[int, list[Option]]]) -> Iterator[Served]:
        """What may be served at one time, by the least time that it may take.

        Instructions run one after the other, and slow memory serves accesses and
        copies one after the other.
        """
        running, least = RunningTimes(self._problem), _least(options)
        busy_s = [min((x[1] for x in each.values()), default=0.0) for each in least]
        heap = [_Node(0.0, 0, (), np.zeros_like(self.shared.limits), sum(busy_s))]
        pushed = 0
        while heap:
            node = heapq.heappop(heap)
            if self.best.rules_out(node.least_s):
                return
            if self._run.expired:
                raise TimeoutError
            buffer = len(node.served)
            if buffer == len(options):
                yield node.served
                continue
            for mask, (takes, seconds) in least[buffer].items():
                served, taken = (*node.served, mask), node.taken + takes
                if (taken > self.shared.limits).any():
                    continue
                pushed += 1
                busy = node.busy_s - busy_s[buffer] + seconds
                least_s = max(running.least(served), busy * (1 - ROUNDING))
                heapq.heappush(heap, _Node(least_s, -pushed, served, taken, busy))


@dataclass(frozen=True, slots=True, order=True)
class _Node:
    """Some buffers' served accesses."""

    least_s: float
    number: int
    """Different for each, so that no more is compared."""
    served: Served
    taken: Ints
    """What choices for these buffers take at least of what is shared."""
    busy_s: float
    """Seconds that slow memory is busy at least, with all buffers."""


def _least(
    options: Sequence[dict[int, list[Option]]],
) -> list[dict[int, tuple[Ints, float]]]:
    """For each buffer and what is served of it: what its options take at least."""
    return [
        {
            served: (
                reduce(np.minimum, [option.takes for option in group]),
                min(option.busy_s for option in group),
            )
            for served, group in each.items()
        }
        for each in options
    ]


class Combinations:
    """The combinations of choices that serve the same accesses.

    One of some buffers' choices is given up where it takes more than there is of what
    buffers share, finds no offsets, or already takes too long: what the others copy
    only adds to that.
    """

    def __init__(
        self, search: Search, clock: Clock, options: list[list[Option]], run: Run
    ) -> None:
        self._search, self._clock, self._run = search, clock, run
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
        self._extend((), np.zeros_like(self._search.shared.limits), 0.0)

    def _extend(
        self, chosen: tuple[Option, ...], taken: Ints, busy_s: float
    ) -> None:
        depth = len(chosen)
        if depth == len(self._options):
            self._finish(chosen)
            return
        best, limits = self._search.best, self._search.shared.limits
        for alone_s, _, option in self._options[depth]:
            if best.rules_out(alone_s):
                return
            if self._run.expired:
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
        return self._search.placement.offsets(groups)

    def _fastest(self, chosen: Sequence[Option]) -> tuple[float, tuple[int, ...]]:
        """The least time over the orders of the copied allocations, and the order."""
        queued = [entry for option in chosen for _, entry in option.queued]
        return min(
            (self._clock.seconds([queued[i] for i in order]), order)
            for order in orders(queued)
        )

    def _finish(self, chosen: Sequence[Option]) -> None:
        best = self._search.best
        seconds, order = self._fastest(chosen)
        if best.rules_out(seconds):
            return
        best.offer(placed_map(self._search.placement, chosen, order))


def placed_map(
    placement: Placement, chosen: Sequence[Option], order: Sequence[int]
) -> MemoryMap:
    """The map of some choices: what is copied in this order, then the rest.

    Args:
        placement: Knows places for the groups of the choices.
        chosen: One for each buffer.
        order: Of the allocations that are copied.
    """
    groups = [(x, k) for x, option in enumerate(chosen) for k in range(len(option.groups))]
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
