"""What accesses in fast memory save, instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import Costs, compile_costs, elapsed
from hybridalloc.problem import Problem
from hybridalloc.program import Program

Traffic = tuple[float, float, float]
"""Accesses: seconds in slow memory, seconds in fast memory, bytes in fast memory."""


class Timing:
    """How long each instruction takes, while accesses move to fast memory and back."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        costs = compile_costs(problem)
        self.runs: Floats = costs.runs
        """(T,): how often each instruction runs."""
        self._runs = costs.runs.tolist()
        self._coefficients = _coefficients(costs)
        self._has_further = (np.diff(costs.first_seen) > 0).tolist()
        self._accesses = _accesses(problem.program, costs)
        self._fast: list[set[int]] = [set() for _ in self._accesses]
        self._savings: list[dict[int, float]] = [{} for _ in self._accesses]
        slow = costs.all_slow_s
        self._traffic: list[Traffic] = [(slow_s, 0.0, 0.0) for slow_s in slow.tolist()]
        self.elapsed: Floats = np.maximum(
            np.maximum(costs.compute_s, slow), costs.empty_s
        )
        """(T,): seconds of each instruction."""
        for t in np.flatnonzero(self._has_further).tolist():
            self.elapsed[t] = elapsed(problem, t, ())
        self._elapsed: list[float] = self.elapsed.tolist()
        self.idle: Floats = self.elapsed - slow
        """(T,): seconds of each instruction that are free for copies."""
        self._changed = len(self._fast)
        """The first instruction that changed since this was last asked."""

    @cached_property
    def most_idle(self) -> Floats:
        """(T,): the idle time with every access in fast memory, in seconds."""
        everything = range(len(self._problem.program.buffers))
        points = range(len(self._fast))
        return np.array([elapsed(self._problem, t, everything) for t in points])

    def saving(self, buffer: int, instructions: Iterable[int]) -> float:
        """Seconds of one run that are saved if accesses move to fast memory.

        Args:
            buffer: Its index.
            instructions: Each has an access to it, served from slow memory so far.
        """
        saved = 0.0
        for t in instructions:
            known = self._savings[t].get(buffer)
            saved += self._saving(t, buffer) if known is None else known
        return saved

    def _saving(self, t: int, buffer: int) -> float:
        """The seconds saved if one access moves to fast memory; kept until it changes.

        Args:
            t: The instruction.
            buffer: The index of the buffer, served from slow memory so far.
        """
        slow_s, fast_s, size = self._accesses[t][buffer]
        after = self._after(t, -slow_s, fast_s, size, buffer)
        saved = float(self._runs[t] * (self._elapsed[t] - after))
        self._savings[t][buffer] = saved
        return saved

    def serve(self, buffer: int, instructions: Iterable[int], fast: bool) -> None:
        """Move accesses from one memory to the other.

        Args:
            buffer: Its index.
            instructions: Each has an access to it, served from the other memory so far.
            fast: Whether to fast memory.
        """
        for t in instructions:
            if fast:
                self._fast[t].add(buffer)
            else:
                self._fast[t].remove(buffer)
            self._traffic[t] = self._count(t)
            self._savings[t].clear()
            self.elapsed[t] = self._elapsed[t] = self._after(t, 0.0, 0.0, 0.0)
            self.idle[t] = max(0.0, self._elapsed[t] - self._traffic[t][0])
            self._changed = min(self._changed, t)

    def take_changed(self) -> int:
        """The first instruction that changed since this was last asked; ``T`` if none.

        So whoever sums up times knows which sums still hold.
        """
        changed, self._changed = self._changed, len(self._fast)
        return changed

    def _count(self, t: int) -> Traffic:
        """The traffic of an instruction, each access in the memory that serves it."""
        slow_s = fast_s = fast_bytes = 0.0
        for buffer, (slow, fast, size) in self._accesses[t].items():
            if buffer in self._fast[t]:
                fast_s += fast
                fast_bytes += size
            else:
                slow_s += slow
        return slow_s, fast_s, fast_bytes

    def _after(
        self,
        t: int,
        slow_s: float,
        fast_s: float,
        size: float,
        moved: int | None = None,
    ) -> float:
        """``Elapsed`` of an instruction if this were added (see ``Costs``).

        Args:
            t: The instruction.
            slow_s: Seconds of traffic in slow memory.
            fast_s: Seconds of traffic in fast memory.
            size: Bytes of traffic in fast memory.
            moved: The buffer whose access moves to fast memory, if one does.
        """
        if self._has_further[t]:
            moving = () if moved is None else (moved,)
            return elapsed(self._problem, t, self._fast[t].union(moving))
        compute, empty, extra, floor, line, slope = self._coefficients[t]
        slow, fast, fast_bytes = self._traffic[t]
        roofline = max(compute, slow + slow_s + fast + fast_s)
        if moved is None and not self._fast[t]:
            return max(roofline, empty)
        return max(roofline + extra, floor, line - slope * (fast_bytes + size))


def _coefficients(costs: Costs) -> list[list[float]]:
    """For each instruction, what ``_after`` needs."""
    columns = (
        costs.compute_s,
        costs.empty_s,
        costs.extra_s,
        costs.floor_s,
        costs.line_s,
        costs.slope_s,
    )
    rows: list[list[float]] = np.stack(columns, axis=1).tolist()
    return rows


def _accesses(program: Program, costs: Costs) -> list[dict[int, Traffic]]:
    """For each instruction, what its access to each buffer takes in either memory."""
    columns = (costs.slow_s, costs.fast_s, costs.access_bytes)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        {access.buffer: next(rows) for access in instruction.accesses}
        for instruction in program.instructions
    ]
