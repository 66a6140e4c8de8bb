"""The simulator: what one run under a memory map takes (docs/model.md, Time)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import Costs, Uses, compile_costs
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.simulator.course import Course, course
from hybridalloc.simulator.map_arrays import EVICTION, PREFETCH, MapArrays
from hybridalloc.simulator.running import run_time
from hybridalloc.simulator.stalls import stall_time
from hybridalloc.simulator.tape import Events, build_tape, moved_bytes, sort_copies


@dataclass(frozen=True, slots=True)
class Simulation:
    """What one run under a memory map comes to."""

    time_s: float
    """Seconds, stalls included."""
    stall_s: float
    """Seconds in which nothing but copies happens."""
    moved_bytes: int
    """The bytes of all copies, each as often as it runs."""


class Simulator:
    """Simulates maps of one problem, which it flattens to arrays once.

    Any map can be simulated, valid or not: points after the program's end count as its
    end, and allocations of buffers that the program lacks do nothing.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._costs = compile_costs(problem)
        self._uses = _uses(problem.program, self._costs)
        self._tape = build_tape(problem.program)
        self._startup_s = problem.target.copy_engine.startup_s
        slow = problem.target.slow
        self._rates = np.array([slow.read_bandwidth, slow.write_bandwidth])

    def require_finite(self) -> None:
        """Refuse a problem whose numbers are too extreme to be simulated.

        Raises:
            UsageError: The time with everything in slow memory is not finite.
        """
        if not math.isfinite(self.slow_s):
            raise UsageError(
                f"program {self.problem.program.name}: its time is not finite under "
                f"target {self.problem.target.name}: {self.slow_s} s with everything "
                f"in slow memory"
            )

    @cached_property
    def slow_s(self) -> float:
        """The run time with every access served from slow memory, in seconds."""
        return self.evaluate(_arrays([], []))

    @cached_property
    def fast_s(self) -> float:
        """The run time with every access served from fast memory and no copies."""
        count, last = len(self.problem.program.buffers), len(self.problem.program)
        return self.evaluate(_arrays([(i, 0, last) for i in range(count)], []))

    def simulate(self, memory_map: MemoryMap) -> Simulation:
        """Simulate one run in the steady state.

        Args:
            memory_map: Any map.

        Returns:
            The run time, the stalls in it and the traffic of its copies.
        """
        arrays = self.encode(memory_map)
        running, idle = run_time(self._costs, self._uses, arrays)
        events = self._events(arrays)
        stall = stall_time(self._tape, events, idle)
        moved = moved_bytes(self._tape, events, arrays)
        return Simulation(running + stall, stall, moved)

    def play(self, memory_map: MemoryMap, elapsed_s: Floats) -> Course:
        """Play one run, and keep what happens when.

        Args:
            memory_map: Any map.
            elapsed_s: (T,) seconds that each instruction takes under it, each time
                that it runs.
        """
        arrays = self.encode(memory_map)
        _, idle_s = run_time(self._costs, self._uses, arrays)
        return course(self._tape, self._events(arrays), arrays, elapsed_s, idle_s)

    def evaluate(self, arrays: MapArrays) -> float:
        """The run time under a map, in seconds."""
        running, idle = run_time(self._costs, self._uses, arrays)
        if not arrays.copy_bytes.size:
            return running
        return running + stall_time(self._tape, self._events(arrays), idle)

    def encode(self, memory_map: MemoryMap) -> MapArrays:
        """The arrays of a map, for ``evaluate``."""
        count = len(self.problem.program.buffers)
        known = [a for a in memory_map.allocations if a.buffer < count]
        return _arrays(
            [(a.buffer, a.ready, a.end) for a in known],
            [(i, *copy) for i, a in enumerate(known) for copy in self._copies(a)],
        )

    def _events(self, arrays: MapArrays) -> Events:
        found = sort_copies(self._tape, self._startup_s, self._rates, arrays)
        return Events(*found)

    def _copies(self, allocation: Allocation) -> Iterator[tuple[int, int, int, int]]:
        """Each copy's bytes, queue, issue and due."""
        size = self.problem.program.buffers[allocation.buffer].size
        if allocation.has_copy:
            parts = [(piece.size, piece.issue) for piece in allocation.slices]
            for part_size, issue in parts or [(size, allocation.start)]:
                yield part_size, PREFETCH, issue, allocation.ready
        if allocation.eviction:
            yield size, EVICTION, allocation.eviction.issue, allocation.eviction.due


def simulate(problem: Problem, memory_map: MemoryMap) -> Simulation:
    """Simulate one run; for several maps of one problem keep a ``Simulator``."""
    return Simulator(problem).simulate(memory_map)


def _uses(program: Program, costs: Costs) -> Uses:
    """The accesses of each buffer, as arrays."""
    first_access = costs.first_access.tolist()
    uses: list[list[tuple[int, int]]] = [[] for _ in program.buffers]
    for t, instruction in enumerate(program.instructions):
        for i, access in enumerate(instruction.accesses, start=first_access[t]):
            uses[access.buffer].append((t, i))
    flat = np.array([use for group in uses for use in group], dtype=np.int64)
    flat = flat.reshape(-1, 2)
    return Uses(
        first=np.array([0, *accumulate(map(len, uses))], dtype=np.int64),
        instruction=flat[:, 0].copy(),
        access=flat[:, 1].copy(),
    )


def _arrays(
    allocations: list[tuple[int, int, int]],
    copies: list[tuple[int, int, int, int, int]],
) -> MapArrays:
    served = np.array(allocations, dtype=np.int64).reshape(-1, 3)
    moved = np.array(copies, dtype=np.int64).reshape(-1, 5)
    return MapArrays(
        buffer=served[:, 0].copy(),
        ready=served[:, 1].copy(),
        end=served[:, 2].copy(),
        copy_allocation=moved[:, 0].copy(),
        copy_bytes=moved[:, 1].astype(np.float64),
        copy_queue=moved[:, 2].copy(),
        copy_issue=moved[:, 3].copy(),
        copy_due=moved[:, 4].copy(),
    )
