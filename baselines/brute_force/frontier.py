"""Which accesses may be served from fast memory at one time, the best first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.brute_force.costs import ROUNDING, RunningTimes, Served
from hybridalloc.baselines.brute_force.options import Option
from hybridalloc.problem import Problem


@dataclass(frozen=True, slots=True, order=True)
class _Node:
    """What is served of some buffers, the first of all."""

    least_s: float
    """Seconds that every map takes at least of which that holds."""
    number: int
    """Different for each, so that no more is compared."""
    served: Served
    taken: Ints
    """What these buffers take at least of what is shared."""
    busy_s: float
    """Seconds that slow memory is busy at least, with all buffers."""


class Frontier:
    """All that may be served at one time, in order of the least time that it takes.

    Instructions run one after the other, and slow memory serves accesses and copies
    one after the other: the run takes no less time than either.
    """

    def __init__(
        self,
        problem: Problem,
        limits: Ints,
        options: Sequence[dict[int, list[Option]]],
    ) -> None:
        self._limits = limits
        self._running = RunningTimes(problem)
        self._takes = [
            {x: reduce(np.minimum, [y.takes for y in ys]) for x, ys in each.items()}
            for each in options
        ]
        self._busy_s = [
            {x: min(option.busy_s for option in ys) for x, ys in each.items()}
            for each in options
        ]
        self._least_busy_s = [min(each.values(), default=0.0) for each in self._busy_s]

    @property
    def lowest_s(self) -> float:
        """Seconds that every map takes at least; 0 if there is none."""
        nodes = self._nodes(lambda _: False)
        return next((node.least_s for node in nodes), 0.0)

    def in_order(self, rules_out: Callable[[float], bool]) -> Iterator[Served]:
        """What is served of each buffer, as masks.

        Args:
            rules_out: Whether what takes at least so many seconds is of no interest.
        """
        return (node.served for node in self._nodes(rules_out))

    def _nodes(self, rules_out: Callable[[float], bool]) -> Iterator[_Node]:
        nothing = np.zeros_like(self._limits)
        heap = [_Node(0.0, 0, (), nothing, sum(self._least_busy_s))]
        pushed = 0
        while heap:
            node = heapq.heappop(heap)
            if rules_out(node.least_s):
                return
            if len(node.served) == len(self._takes):
                yield node
                continue
            for child in self._children(node, pushed):
                pushed += 1
                heapq.heappush(heap, child)

    def _children(self, node: _Node, pushed: int) -> Iterator[_Node]:
        """With what may be served of the next buffer."""
        buffer, number = len(node.served), -pushed
        for mask, takes in self._takes[buffer].items():
            taken = node.taken + takes
            if (taken > self._limits).any():
                continue
            number -= 1
            served = (*node.served, mask)
            added_s = self._busy_s[buffer][mask] - self._least_busy_s[buffer]
            busy_s = node.busy_s + added_s
            least_s = max(self._running.least(served), busy_s * (1 - ROUNDING))
            yield _Node(least_s, number, served, taken, busy_s)
