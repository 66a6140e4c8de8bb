"""The simulator against a slow and obvious one, on random programs and maps.

The slow one plays every trip, keeps each queue as a list of copies, and goes from one
completion of a copy to the next. The maps need not be valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from hybridalloc.cost_model import elapsed, idle
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Observation, Program
from hybridalloc.simulator import Simulator
from hybridalloc.target import CopyEngine, MemorySpace, Target

Stage = tuple[int, Loop | None]
"""A point as part of one loop's body, or of the program outside all loops."""


@dataclass
class Copy:
    queue: int
    work_s: float
    size: int
    issued: Stage
    due: Stage


class SlowSimulator:
    def __init__(self, problem: Problem, memory_map: MemoryMap) -> None:
        self.problem, self.map = problem, memory_map
        self.copies = [copy for a in memory_map.allocations for copy in self.cut(a)]
        self.queues: list[list[tuple[Copy, float]]] = [[], []]
        self.time_s = self.stall_s = 0.0
        self.moved_bytes = 0
        self.play(0, len(problem.program), None)
        while any(self.queues):
            self.stall(self.next_completion())

    def cut(self, allocation: Allocation) -> Iterator[Copy]:
        size = self.problem.program.buffers[allocation.buffer].size
        if allocation.has_copy:
            slices = allocation.slices or (Slice(size, allocation.start),)
            for piece in slices:
                yield self.copy(0, piece.size, piece.issue, allocation.ready)
        if allocation.eviction:
            yield self.copy(1, size, allocation.eviction.issue, allocation.eviction.due)

    def copy(self, queue: int, size: int, issue: int, due: int) -> Copy:
        slow = self.problem.target.slow
        bandwidth = (slow.read_bandwidth, slow.write_bandwidth)[queue]
        work_s = self.problem.target.copy_engine.startup_s + size / bandwidth
        stages = self.stage(issue, due), self.stage(due, issue)
        return Copy(queue, work_s, size, *stages)

    def stage(self, point: int, other: int) -> Stage:
        bodies = [
            loop
            for loop in self.problem.program.loops
            if loop.start < point < loop.end
            or (point in (loop.start, loop.end) and loop.start < other < loop.end)
        ]
        return point, max(
            bodies, key=lambda loop: (loop.start, -loop.end), default=None
        )

    def play(self, start: int, end: int, body: Loop | None) -> None:
        point = start
        while point < end:
            self.at((point, body))
            inner = [
                loop
                for loop in self.problem.program.loops
                if loop.start == point and loop.end <= end and loop != body
            ]
            if inner:
                for _ in range(inner[0].trip_count):
                    self.play(point, inner[0].end, inner[0])
                point = inner[0].end
            else:
                self.instruction(point)
                point += 1
        self.at((end, body))

    def at(self, stage: Stage) -> None:
        due = [copy for copy in self.copies if copy.due == stage]
        self.finish([copy for copy in due if copy.issued != stage])
        for copy in self.copies:
            if copy.issued == stage:
                self.queues[copy.queue].append((copy, copy.work_s))
                self.moved_bytes += copy.size
        self.finish(due)

    def finish(self, due: list[Copy]) -> None:
        while any(copy is x for copy in due for queue in self.queues for x, _ in queue):
            self.stall(self.next_completion())

    def instruction(self, t: int) -> None:
        fast = {
            a.buffer for a in self.map.allocations if max(a.start, a.ready) <= t < a.end
        }
        self.time_s += elapsed(self.problem, t, fast)
        left = idle(self.problem, t, fast)
        while left > 0 and any(self.queues):
            step = min(left, self.next_completion())
            self.advance(step)
            left -= step

    def stall(self, seconds: float) -> None:
        self.advance(seconds)
        self.time_s += seconds
        self.stall_s += seconds

    def next_completion(self) -> float:
        slowdown = 2 if all(self.queues) else 1
        return min(queue[0][1] * slowdown for queue in self.queues if queue)

    def advance(self, seconds: float) -> None:
        done = seconds / 2 if all(self.queues) else seconds
        for queue in self.queues:
            if queue:
                copy, left = queue.pop(0)
                if left - done > 1e-12:
                    queue.insert(0, (copy, left - done))


def random_loops(rng: np.random.Generator, count: int, most: int) -> tuple[Loop, ...]:
    """Some loops that nest or stand apart."""
    loops: list[Loop] = []
    for _ in range(rng.integers(5)):
        start, end = sorted(rng.choice(count + 1, 2, replace=False).tolist())
        new = Loop(start, end, int(rng.integers(most + 1)))
        if all(
            (x.start, x.end) != (start, end)
            and (x.encloses(new) or new.encloses(x) or x.end <= start or end <= x.start)
            for x in loops
        ):
            loops.append(new)
    return tuple(sorted(loops, key=lambda loop: (loop.start, -loop.end)))


def random_problem(rng: np.random.Generator, most_trips: int) -> Problem:
    """A few instructions and buffers, under either cost model."""
    count = int(rng.integers(1, 8))
    buffers = tuple(Buffer(f"b{i}", int(rng.integers(1, 60)), True) for i in range(4))
    instructions = []
    for t in range(count):
        accesses = tuple(
            Access(b, int(rng.integers(12)), int(rng.integers(12)))
            for b in range(4)
            if rng.random() < 0.3
        )
        seen = Observation((), float(rng.integers(40))), Observation((1, 2), 9.0)
        instructions.append(
            Instruction(f"i{t}", float(rng.integers(20)), accesses, 0, seen)
        )
    program = Program(
        "p", tuple(instructions), buffers, random_loops(rng, count, most_trips)
    )
    slow = MemorySpace("slow", *rng.choice([1.0, 1.5, 3.0], 2).tolist())
    engine = CopyEngine(startup_s=float(rng.integers(3)) / 4)
    target = Target("t", (MemorySpace("fast", 7, 9, 100), slow), 1.0, 2.0, engine)
    return Problem(program, target, list(CostModel)[rng.integers(2)])


def random_map(rng: np.random.Generator, problem: Problem) -> MemoryMap:
    """Allocations of every kind, anywhere in the program."""
    last = len(problem.program)
    allocations = []
    for _ in range(rng.integers(1, 7)):
        start, end = sorted(rng.choice(last + 1, 2, replace=False).tolist())
        buffer, ready = int(rng.integers(4)), start
        slices: tuple[Slice, ...] = ()
        origin = list(Origin)[rng.integers(3)]
        size = problem.program.buffers[buffer].size
        if origin is not Origin.PRODUCED:
            ready = int(rng.integers(start, end + 1))
        if origin is Origin.PREFETCHED and size > 1 and rng.random() < 0.4:
            cut = int(rng.integers(1, size))
            issues = rng.permutation([start, rng.integers(start, ready + 1)]).tolist()
            slices = (Slice(cut, issues[0]), Slice(size - cut, issues[1]))
        eviction = None
        if rng.random() < 0.5:
            issue, due = sorted(rng.integers(start + 1, end + 1, 2).tolist())
            eviction = Eviction(issue, due)
        allocations.append(
            Allocation(buffer, 0, start, end, origin, ready, slices, eviction)
        )
    return MemoryMap(tuple(allocations))


@pytest.mark.parametrize("most_trips", [3, 40])
@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_agrees_with_the_slow_simulator(seed: int, most_trips: int) -> None:
    rng = np.random.default_rng([seed, most_trips])
    for _ in range(40):
        problem = random_problem(rng, most_trips)
        if max(problem.program.multiplicity) > 2000:
            continue
        memory_map = random_map(rng, problem)
        found = Simulator(problem).simulate(memory_map)
        expected = SlowSimulator(problem, memory_map)
        assert found.time_s == pytest.approx(expected.time_s, rel=1e-9)
        assert found.stall_s == pytest.approx(expected.stall_s, rel=1e-9, abs=1e-9)
        assert found.moved_bytes == expected.moved_bytes
