"""What a picture of a memory map shows: rectangles, and amounts over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulation, Simulator
from hybridalloc.simulator.course import Course
from hybridalloc.understanding.serving import Serving


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

    allocation: int
    """The one that it belongs to, as an index into the map."""
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
    label: str
    """What the map is called, beside another one; empty if it is alone."""
    serving: Serving
    """Which accesses the map serves."""
    simulation: Simulation
    course: Course
    """What happens when, in one run."""
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
    compute_s: Floats
    """(T,): the same were memory infinitely fast."""

    @staticmethod
    def of(
        problem: Problem, memory_map: MemoryMap, axis: XAxis, label: str = ""
    ) -> Scene:
        """Check and simulate a map.

        Args:
            problem: The program, the target and the cost model.
            memory_map: Any map of this program.
            axis: What goes to the right.
            label: What the map is called.

        Raises:
            UsageError: The times are not finite.
        """
        simulator, program = Simulator(problem), problem.program
        simulator.require_finite()
        serving = Serving(problem, memory_map)
        now_s = serving.times()
        places = np.arange(len(program) + 1, dtype=np.float64)
        if axis is XAxis.TIME:
            places = cumulated(now_s)
        runs = np.array(program.multiplicity, dtype=np.float64)
        return Scene(
            problem=problem,
            memory_map=memory_map,
            axis=axis,
            label=label,
            serving=serving,
            simulation=simulator.simulate(memory_map),
            course=simulator.play(memory_map, serving.run_times()),
            slow_s=simulator.slow_s,
            violations=tuple(x.message for x in check(problem, memory_map)),
            x=places,
            now_s=now_s,
            all_slow_s=Serving(problem, MemoryMap()).times(),
            compute_s=runs * [x.compute_s for x in program.instructions],
        )

    @property
    def stall_s(self) -> Floats:
        """(T,): stalls before each instruction; the last has those at the end too."""
        stalls = self.course.stall_s
        return np.concatenate((stalls[:-2], [stalls[-2] + stalls[-1]]))

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


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Which rectangles of a map stand out, and how."""

    faded: frozenset[int] = frozenset()
    """The allocations that stand back, as indices into the map."""
    outlined: bool = False
    """Whether the others are outlined."""

    @staticmethod
    def of(scene: Scene, other: Scene | None, chosen: int | None) -> Emphasis:
        """What a chosen buffer or else another map leaves in the background.

        Args:
            scene: The map.
            other: The map beside it, if any: what both have at the same time, at
                whatever offset, stands back.
            chosen: The buffer to bring out, if any.
        """
        own = enumerate(scene.memory_map.allocations)
        if chosen is not None:
            faded = frozenset(i for i, x in own if x.buffer != chosen)
            return Emphasis(faded, outlined=True)
        beside = other.memory_map.allocations if other else ()
        there = {replace(x, offset=None) for x in beside}
        return Emphasis(
            frozenset(i for i, x in own if replace(x, offset=None) in there)
        )


def other_of(scenes: Sequence[Scene], scene: Scene) -> Scene | None:
    """The map beside this one, if there is one."""
    return next((x for x in scenes if x is not scene), None)


def rectangles(scene: Scene) -> list[Piece]:
    """The rectangles of all allocations; buffers of no bytes have none."""
    buffers = scene.problem.program.buffers
    return [
        piece
        for index, allocation in enumerate(scene.memory_map.allocations)
        for piece in _pieces(index, allocation, buffers[allocation.buffer].size)
        if piece.low < piece.high and piece.start < piece.end
    ]


def _pieces(index: int, allocation: Allocation, size: int) -> Iterator[Piece]:
    parts = list(allocation.parts(size))
    low, high, end = parts[0][0], parts[-1][1], allocation.end

    def piece(phase: Phase, start: int, stop: int) -> Piece:
        return Piece(
            *(index, allocation.buffer, allocation.origin, phase),
            *(low, high, start, stop),
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


def cumulated(amounts: Floats) -> Floats:
    """(T+1,): the sum of what comes before each point, from amounts of shape (T,)."""
    return np.concatenate(([0.0], np.cumsum(amounts)))
