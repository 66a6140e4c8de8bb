"""What a picture of a memory map shows: rectangles, and amounts over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats
from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulation, Simulator
from hybridalloc.understanding.serving import Serving

MOST_STEPS = 2000
"""How many steps a line has at most; a page has hardly more columns of dots."""


class XAxis(StrEnum):
    """What a picture has to the right."""

    INSTRUCTION = "instruction"
    """The schedule: every instruction is as wide as any other."""
    TIME = "time"
    """Simulated seconds of one run: an instruction is as wide as all its runs."""


class Phase(StrEnum):
    """What happens to the bytes that an allocation holds."""

    ARRIVING = "arriving"
    """They are being copied from slow memory and serve no access yet."""
    RESIDENT = "resident"
    """They serve accesses."""
    LEAVING = "leaving"
    """They serve accesses and are being copied to slow memory."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes [low, high) of fast memory from one point to another, in one phase."""

    buffer: int
    origin: Origin
    phase: Phase
    low: int
    high: int
    start: int
    end: int


@dataclass(frozen=True)
class Scene:
    """A memory map, and all that a picture says of it."""

    problem: Problem
    memory_map: MemoryMap
    axis: XAxis
    simulation: Simulation
    slow_s: float
    """The time with everything in slow memory, in seconds."""
    violations: tuple[str, ...]
    """What is wrong with the map; empty if it is valid."""
    x: Floats
    """(T+1,): where each point is on the axis: its index, or seconds."""
    now_s: Floats
    """(T,): seconds that each instruction takes under the map, in all its runs."""
    all_slow_s: Floats
    """(T,): the same with everything in slow memory."""

    @staticmethod
    def of(problem: Problem, memory_map: MemoryMap, axis: XAxis) -> Scene:
        """Check and simulate a map.

        Args:
            problem: The program, the target and the cost model.
            memory_map: Any map of this program.
            axis: What goes to the right.

        Raises:
            UsageError: The times are not finite.
        """
        simulator = Simulator(problem)
        simulator.require_finite()
        now_s = Serving(problem, memory_map).times()
        places = np.arange(len(problem.program) + 1, dtype=np.float64)
        if axis is XAxis.TIME:
            places = cumulated(now_s)
        return Scene(
            problem=problem,
            memory_map=memory_map,
            axis=axis,
            simulation=simulator.simulate(memory_map),
            slow_s=simulator.slow_s,
            violations=tuple(x.message for x in check(problem, memory_map)),
            x=places,
            now_s=now_s,
            all_slow_s=Serving(problem, MemoryMap()).times(),
        )

    @cached_property
    def first(self) -> int:
        """The first instruction that may take time: what is shown begins there."""
        return int(np.argmax(self.all_slow_s > 0))

    @property
    def left(self) -> float:
        """Where the axis begins."""
        return float(self.x[self.first])

    @property
    def width(self) -> float:
        """How far the axis goes, more than 0."""
        return float(self.x[-1] - self.left) or 1.0

    def at(self, point: int) -> float:
        """Where a point is on the axis, or the nearest that is shown."""
        return float(self.x[min(max(point, self.first), len(self.x) - 1)])


def rectangles(scene: Scene) -> list[Piece]:
    """The rectangles of all allocations; buffers of no bytes have none."""
    buffers = scene.problem.program.buffers
    return [
        piece
        for allocation in scene.memory_map.allocations
        for piece in _pieces(allocation, buffers[allocation.buffer].size)
        if piece.low < piece.high and piece.start < piece.end
    ]


def _pieces(allocation: Allocation, size: int) -> Iterator[Piece]:
    parts = list(allocation.parts(size))
    low, high, end = parts[0][0], parts[-1][1], allocation.end

    def piece(phase: Phase, start: int, stop: int) -> Piece:
        return Piece(
            allocation.buffer, allocation.origin, phase, low, high, start, stop
        )

    if allocation.has_copy:
        for part_low, part_high, issue in parts:
            fetched = piece(Phase.ARRIVING, issue, allocation.ready)
            yield replace(fetched, low=part_low, high=part_high)
    copy = allocation.eviction
    yield piece(Phase.RESIDENT, allocation.ready, copy.issue if copy else end)
    if copy:
        yield piece(Phase.LEAVING, copy.issue, copy.due)
        yield piece(Phase.RESIDENT, copy.due, end)


def steps(scene: Scene, amounts: NDArray[Any]) -> tuple[NDArray[Any], Floats]:
    """What to draw of amounts over time: the highest of neighbours if there are many.

    Args:
        scene: Where the instructions are on the axis.
        amounts: (T,) any numbers.

    Returns:
        (steps,) amounts, and (steps+1,) where each begins and the last ends.
    """
    count = len(amounts)
    first = np.unique(np.linspace(0, count, MOST_STEPS, endpoint=False, dtype=np.int64))
    return np.maximum.reduceat(amounts, first), scene.x[[*first, count]]


def cumulated(amounts: Floats) -> Floats:
    """(T+1,): the sum of what comes before each point, from amounts of shape (T,)."""
    return np.concatenate(([0.0], np.cumsum(amounts)))
