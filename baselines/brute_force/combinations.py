"""The search over the combinations of choices that serve the same accesses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.baselines.brute_force.costs import ROUNDING, Clock
from hybridalloc.baselines.brute_force.options import Option, Shared
from hybridalloc.baselines.brute_force.orders import Order
from hybridalloc.baselines.brute_force.placement import Placement
from hybridalloc.memory_map import Allocation, MemoryMap
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

    @property
    def limit_s(self) -> float:
        """What takes at least so many seconds is of no interest."""
        if self.any_will_do and self.map is not None:
            return 0.0
        return min(self.seconds, self.cutoff_s) * (1 - ROUNDING)

    def rules_out(self, seconds: float) -> bool:
        """Whether a map that takes at least so long is of no interest."""
        return seconds >= self.limit_s


class _Depth:
    """The options for one buffer, and their numbers in arrays."""

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = options
        self.takes: Ints = np.array([option.takes for option in options])
        self.busy_s: Floats = np.array([option.busy_s for option in options])


@dataclass(frozen=True, slots=True)
class _Node:
    """Choices for some buffers, with the orders of what is copied that are left."""

    chosen: tuple[Option, ...]
    orders: tuple[tuple[float, Order], ...]
    """By the seconds that the run takes at least, the least first."""
    taken: Ints
    busy_s: float


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
        self._root = _Node((), ((0.0, Order()),), np.zeros_like(shared.limits), 0.0)
        quick = [[x for x in each if self._timed(self._root, x)] for each in options]
        self._depths = [_Depth(each) for each in sorted(quick, key=len)]
        least = [min(x.busy_s.tolist(), default=math.inf) for x in self._depths]
        self._later_s = [sum(least[i + 1 :]) for i in range(len(least))]
        """For each buffer, the seconds that slow memory is busy with those after."""

    def all(self) -> None:
        """Search them to the end; report what is better than the best map.

        Raises:
            TimeoutError: At the deadline.
        """
        self._extend(self._root)

    def _extend(self, node: _Node) -> None:
        if len(node.chosen) == len(self._depths):
            if not self._best.rules_out(node.orders[0][0]):
                order = node.orders[0][1]
                self._best.offer(placed_map(self._shared.placement, node.chosen, order))
            return
        children = sorted(self._children(node), key=lambda child: child.orders[0][0])
        for child in children:
            if self._best.rules_out(child.orders[0][0]):
                return
            if self._offsets(child.chosen) is not None:
                self._extend(child)

    def _children(self, node: _Node) -> Iterator[_Node]:
        """With each option for the next buffer that is not ruled out."""
        number = len(node.chosen)
        depth = self._depths[number]
        if not depth.options:
            return
        taken, busy_s = node.taken + depth.takes, node.busy_s + depth.busy_s
        least_s = (busy_s + self._later_s[number]) * (1 - ROUNDING)
        possible = (taken <= self._shared.limits).all(axis=1)
        for i in np.flatnonzero(possible & (least_s < self._best.limit_s)).tolist():
            if self._best.run.expired:
                raise TimeoutError
            option = depth.options[i]
            orders = self._timed(node, option)
            if orders:
                chosen = (*node.chosen, option)
                yield _Node(chosen, orders, taken[i], float(busy_s[i]))

    def _timed(self, node: _Node, option: Option) -> tuple[tuple[float, Order], ...]:
        """The orders of a node joined by an option's copies that are not ruled out."""
        if not option.queued and node.chosen:
            return node.orders
        orders = [order for _, order in node.orders]
        for rows in option.queued:
            orders = [more for order in orders for more in order.joined_by(rows)]
        timed = [(self._clock.seconds(order.rows), order) for order in orders]
        limit_s = self._best.limit_s
        left = [entry for entry in timed if entry[0] < limit_s]
        return tuple(sorted(left, key=lambda entry: entry[0]))

    def _offsets(self, chosen: Sequence[Option]) -> tuple[int, ...] | None:
        groups = tuple(sorted(group for x in chosen for group in x.groups))
        return self._shared.placement.offsets(groups)


def placed_map(
    placement: Placement, chosen: Sequence[Option], order: Order
) -> MemoryMap:
    """The map of some choices: what is copied in this order, then the rest.

    Args:
        placement: Knows places for the groups of the choices.
        chosen: One for each buffer, in the order in which their copies joined.
        order: Of the allocations that are copied.
    """
    groups = sorted(
        (group, x, k)
        for x, option in enumerate(chosen)
        for k, group in enumerate(option.groups)
    )
    found = placement.offsets(tuple(group for group, _, _ in groups))
    if found is None:
        raise ValueError("no offsets for choices that were found to have some")
    places = {(x, k): y for (_, x, k), y in zip(groups, found, strict=True)}
    copied: list[Allocation] = []
    rest: list[Allocation] = []
    for x, option in enumerate(chosen):
        choice = option.choice
        offset = {i: places[x, k] for k, y in enumerate(choice.groups) for i in y}
        for i, allocation in enumerate(choice.allocations):
            listed = copied if option.is_queued[i] else rest
            listed.append(replace(allocation, offset=offset[i]))
    return MemoryMap((*(copied[i] for i in order.numbers), *rest))
