"""What accesses and copies cost, as told by the simulator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np

from hybridalloc.baselines.brute_force.dominance import Copy
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Program
from hybridalloc.simulator import Simulator
from hybridalloc.simulator.map_arrays import MapArrays

ROUNDING = 1e-12
"""Times that differ by no more than this share are equal."""
Served = tuple[int, ...]
"""For each buffer, the instructions whose access fast memory serves, as a mask."""


class RunningTimes:
    """How long instructions run, stalls apart, with some accesses still open.

    Of what is open, the best is assumed for each instruction by itself.
    """

    def __init__(self, problem: Problem) -> None:
        times = [_times(problem, t) for t in range(len(problem.program))]
        count = len(problem.program.buffers)
        self._least = [
            [_decided(each, (1 << first) - 1) for each in times]
            for first in range(count + 1)
        ]

    def least(self, served: Sequence[int]) -> float:
        """Seconds that all instructions run at least.

        Args:
            served: For each of the first buffers, the instructions whose access fast
                memory serves, as a mask.
        """
        total = 0.0
        for t, least in enumerate(self._least[len(served)]):
            total += least[sum(1 << b for b, x in enumerate(served) if x >> t & 1)]
        return total


def _times(problem: Problem, t: int) -> dict[int, float]:
    """The seconds of all runs of an instruction, by the buffers served, as a mask."""
    program = problem.program
    step = program.instructions[t]
    buffers = tuple(replace(x, is_input=True) for x in program.buffers)
    only = Program(program.name, (step,), buffers)
    model = problem.cost_model if step.observations else CostModel.ROOFLINE
    simulator = Simulator(Problem(only, problem.target, model))
    touched = [access.buffer for access in step.accesses]
    times: dict[int, float] = {}
    for chosen in range(1 << len(touched)):
        fast = [b for i, b in enumerate(touched) if chosen >> i & 1]
        stays = MemoryMap(tuple(Allocation(b, 0, 0, 1) for b in fast))
        seconds = simulator.evaluate(simulator.encode(stays))
        times[sum(1 << b for b in range(len(buffers)) if b in fast)] = seconds
    return {fast: x * program.multiplicity[t] for fast, x in times.items()}


def _decided(times: dict[int, float], decided: int) -> dict[int, float]:
    """The least seconds by those of the decided buffers that are served.

    A buffer that the instruction does not access is not served by it.
    """
    least: dict[int, float] = {}
    for fast, seconds in times.items():
        known = fast & decided
        least[known] = min(least.get(known, math.inf), seconds)
    return least


Queued = tuple[int, tuple[Copy, ...]]
"""The bytes and the copies of one allocation."""


class Clock:
    """The simulated time of copies, where it is settled which accesses are served."""

    def __init__(self, simulator: Simulator, served: Sequence[int]) -> None:
        self._simulator = simulator
        fast = [(b, t) for b, mask in enumerate(served) for t in bits(mask)]
        table = np.array(fast, dtype=np.int64).reshape(-1, 2)
        self._buffer, self._ready = table[:, 0].copy(), table[:, 1].copy()
        self._end = self._ready + 1
        self._known: dict[tuple[Queued, ...], float] = {}

    def seconds(self, queued: Sequence[Queued]) -> float:
        """The run time with these copies, in this order."""
        key = tuple(queued)
        if key not in self._known:
            self._known[key] = self._evaluate(key)
        return self._known[key]

    def _evaluate(self, queued: Sequence[Queued]) -> float:
        rows = [(size, *copy) for size, copies in queued for copy in copies]
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        arrays = MapArrays(
            buffer=self._buffer,
            ready=self._ready,
            end=self._end,
            copy_allocation=np.zeros(len(rows), dtype=np.int64),
            copy_bytes=table[:, 0].astype(np.float64),
            copy_queue=table[:, 1].copy(),
            copy_issue=table[:, 2].copy(),
            copy_due=table[:, 3].copy(),
        )
        return self._simulator.evaluate(arrays)


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def orders(queued: Sequence[Queued]) -> list[tuple[int, ...]]:
    """The orders of these allocations in a map's list that may differ in time.

    The order matters between two that issue copies to one queue at one point.
    """
    rivals = tuple(
        (i, j)
        for j, (_, later) in enumerate(queued)
        for i, (_, earlier) in enumerate(queued[:j])
        if {copy[:2] for copy in earlier} & {copy[:2] for copy in later}
    )
    return _orders(len(queued), rivals)


@cache
def _orders(count: int, rivals: tuple[tuple[int, int], ...]) -> list[tuple[int, ...]]:
    """An order of so many things for each way to put these pairs in order."""
    involved = sorted({i for pair in rivals for i in pair})
    rest = tuple(i for i in range(count) if i not in involved)
    different: dict[tuple[bool, ...], tuple[int, ...]] = {}
    for order in permutations(involved):
        place = {i: position for position, i in enumerate(order)}
        signs = tuple(place[i] < place[j] for i, j in rivals)
        different.setdefault(signs, (*order, *rest))
    return list(different.values())
