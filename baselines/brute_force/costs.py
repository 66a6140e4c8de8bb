"""What accesses and copies cost, as told by the simulator."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import elapsed, idle
from hybridalloc.problem import Problem
from hybridalloc.simulator.map_arrays import MapArrays
from hybridalloc.simulator.stalls import stall_time
from hybridalloc.simulator.tape import Events, build_tape, sort_copies

ROUNDING = 1e-12
"""Times that differ by no more than this share are equal."""
Served = tuple[int, ...]
"""For each buffer, the instructions whose access fast memory serves, as a mask."""


Row = tuple[int, int, int, int]
"""A copy: its bytes, queue, issue and due."""


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
    touched = [access.buffer for access in program.instructions[t].accesses]
    times: dict[int, float] = {}
    for chosen in range(1 << len(touched)):
        fast = {b for i, b in enumerate(touched) if chosen >> i & 1}
        seconds = elapsed(problem, t, fast) * program.multiplicity[t]
        times[sum(1 << b for b in fast)] = seconds
    return times


def _decided(times: dict[int, float], decided: int) -> dict[int, float]:
    """The least seconds by those of the decided buffers that are served."""
    least: dict[int, float] = {}
    for fast, seconds in times.items():
        known = fast & decided
        least[known] = min(least.get(known, math.inf), seconds)
    return least


class Clock:
    """The simulated time of copies, where it is settled which accesses are served."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._tape = problem, build_tape(problem.program)
        slow, engine = problem.target.slow, problem.target.copy_engine
        self._rates = np.array([slow.read_bandwidth, slow.write_bandwidth])
        self._startup_s = engine.startup_s
        self._running = RunningTimes(problem)
        self._none = np.empty(0, dtype=np.int64)
        self._idle_s: dict[tuple[int, frozenset[int]], float] = {}
        self._set: tuple[float, Floats] = 0.0, np.empty(0)

    def set(self, served: Served) -> None:
        """Settle which accesses fast memory serves."""
        idle_s = []
        for t, step in enumerate(self._problem.program.instructions):
            touched = (access.buffer for access in step.accesses)
            fast = frozenset(b for b in touched if served[b] >> t & 1)
            if (t, fast) not in self._idle_s:
                self._idle_s[t, fast] = max(0.0, idle(self._problem, t, fast))
            idle_s.append(self._idle_s[t, fast])
        self._set = self._running.least(served), np.array(idle_s)

    def seconds(self, rows: Sequence[Row]) -> float:
        """The run time with these copies, in this order."""
        running_s, idle_s = self._set
        if not rows:
            return running_s
        table = np.array(rows, dtype=np.int64)
        none, (moved, queue, issue, due) = self._none, table.T.copy()
        arrays = MapArrays(
            *(none, none, none),
            copy_allocation=none,
            copy_bytes=moved.astype(np.float64),
            copy_queue=queue,
            copy_issue=issue,
            copy_due=due,
        )
        found = sort_copies(self._tape, self._startup_s, self._rates, arrays)
        events = Events(*found)
        return running_s + stall_time(self._tape, events, idle_s)
