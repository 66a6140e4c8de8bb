"""Cuts: what a solution of the model leaves out of account is added to the model.

The copies of a map fall into *groups* such that those of different groups never run at
one point. What a group waits for depends on nothing but its copies, that no others run
meanwhile, and the idle times of the instructions beside it. Where the simulator finds
it to wait longer than the model believes, the model learns the truth for exactly that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hybridalloc.cost_model import elapsed
from hybridalloc.cpsat_models.mapping.extraction import Values
from hybridalloc.cpsat_models.mapping.formulation import Formulation
from hybridalloc.cpsat_models.mapping.units import idle_slack
from hybridalloc.cpsat_models.mapping.variables import CopyVariables, Linear, Lit
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.simulator import Simulator
from hybridalloc.simulator.map_arrays import MapArrays


@dataclass(frozen=True, slots=True)
class Group:
    """Copies whose windows overlap or touch, one by one."""

    low: int
    """The first point."""
    high: int
    """The last point."""
    copies: tuple[int, ...]
    """Indices into the copies of the map's arrays."""


def groups_of(loops: Loops, arrays: MapArrays) -> list[Group]:
    """The groups of a map's copies; those within a loop count as all of it."""
    windows = sorted(
        (*_widened(loops, int(issue), int(due)), i)
        for i, (issue, due) in enumerate(
            zip(arrays.copy_issue, arrays.copy_due, strict=True)
        )
    )
    groups: list[Group] = []
    for low, high, i in windows:
        if groups and low <= groups[-1].high:
            last = groups.pop()
            merged = Group(last.low, max(last.high, high), (*last.copies, i))
            groups.append(merged)
        else:
            groups.append(Group(low, high, (i,)))
    return groups


def _widened(loops: Loops, issue: int, due: int) -> tuple[int, int]:
    """From the point outside loops before a copy begins to that after it has ended."""
    return loops.outside_before(issue, None), loops.outside_after(due, None)


def group_stall(simulator: Simulator, arrays: MapArrays, group: Group) -> float:
    """Seconds for which a group waits in one run."""
    chosen = np.array(group.copies, np.int64)
    none = np.zeros(0, np.int64)
    alone, without = (
        arrays._replace(
            copy_allocation=arrays.copy_allocation[x],
            copy_bytes=arrays.copy_bytes[x],
            copy_queue=arrays.copy_queue[x],
            copy_issue=arrays.copy_issue[x],
            copy_due=arrays.copy_due[x],
        )
        for x in (chosen, none)
    )
    return simulator.evaluate(alone) - simulator.evaluate(without)


def has_both_queues(memory_map: MemoryMap) -> bool:
    """Whether there are prefetches and evictions."""
    return any(x.has_copy for x in memory_map.allocations) and any(
        x.eviction for x in memory_map.allocations
    )


class Cuts:
    """Compares solutions of a model with the simulator."""

    def __init__(self, formulation: Formulation, simulator: Simulator) -> None:
        self._model = formulation
        self._simulator = simulator
        self._program = simulator.problem.program

    def add(
        self, memory_map: MemoryMap, values: Values, value: Callable[[Linear], int]
    ) -> bool:
        """Add a cut for each group that waits longer than the model believes.

        Args:
            memory_map: The solution's.
            values: The solution.
            value: What an expression comes to in the solution.

        Returns:
            Whether there was any.
        """
        arrays = self._simulator.encode(memory_map)
        added = False
        for group in groups_of(self._model.variables.loops, arrays):
            least = self._least(group, arrays, values)
            if value(self._duration(group)) < least:
                self._cut(group, least, values)
                added = True
        return added

    def _least(self, group: Group, arrays: MapArrays, values: Values) -> int:
        """Units that pass from the first to the last point, rounded down twice."""
        units, slack, seconds = self._model.units, 0, 0.0
        fast = self._model.variables.fast
        for t in range(group.low, group.high):
            accesses = self._program.instructions[t].accesses
            served = [
                x.buffer
                for x in accesses
                if (t, x.buffer) in fast and values(fast[t, x.buffer])
            ]
            runs = self._program.multiplicity[t]
            seconds += runs * elapsed(self._simulator.problem, t, served)
            slack += runs * (idle_slack(len(accesses)) + 1)
        stall = group_stall(self._simulator, arrays, group)
        return units.down(seconds + stall) - slack - 2

    def _cut(self, group: Group, least: int, values: Values) -> None:
        """Where this group is in flight, and no other copy, so much time passes."""
        model = self._model.model
        literals: dict[int, Lit] = {}
        for literal in self._reasons(group, values):
            literals[literal.index] = literal
        cut = model.add(self._duration(group) >= least)
        cut.only_enforce_if(list(literals.values()))

    def _duration(self, group: Group) -> Linear:
        """The units of one run that pass from the first to the last point."""
        clocks, loops = self._model.clocks, self._model.variables.loops
        first, last = clocks.before[None, group.low], clocks.after[None, group.high]
        passed: Linear = last - first
        for loop in self._program.loops:
            if group.low <= loop.start and loop.end <= group.high:
                passed += int(loops.trips(loop)) * clocks.after[loop, loop.end]
                passed += clocks.first.get(loop, 0)
        for t in range(group.low, group.high):
            passed += self._program.multiplicity[t] * self._model.times[t].traffic
        return passed

    def _reasons(self, group: Group, values: Values) -> Iterator[Lit]:
        """True literals that say all that the group's waiting depends on."""
        variables = self._model.variables
        for (t, _), literal in variables.fast.items():
            if group.low <= t < group.high:
                yield literal if values(literal) else ~literal
        for copy in (*variables.fetches, *variables.evictions):
            low, high = _reach(variables.loops, copy)
            if low <= group.high and group.low <= high:
                yield from _state(copy, group, values)


def _reach(loops: Loops, copy: CopyVariables) -> tuple[int, int]:
    window = copy.window
    return _widened(loops, window.issues[0], window.dues[-1])


def _state(copy: CopyVariables, group: Group, values: Values) -> Iterator[Lit]:
    """When a copy runs; if not with the group, that it does not."""
    begun = copy.issued_by(group.high)
    if begun is None:
        return
    if not values(begun):
        yield ~begun
        return
    done = copy.ready_by(group.low - 1)
    if done is not None and values(done):
        yield done
        return
    for literals in (copy.issued, copy.ready):
        yield from _first_true(literals, values)


def _first_true(literals: tuple[Lit, ...], values: Values) -> Iterator[Lit]:
    if values(literals[0]):
        yield literals[0]
    for earlier, later in pairwise(literals):
        if values(later) and not values(earlier):
            yield ~earlier
            yield later
