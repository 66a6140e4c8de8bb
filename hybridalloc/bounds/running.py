"""The rows of instructions: what they take, and the idle time that they leave."""

from __future__ import annotations

import time

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.bounds.elapsed import Observed, faces, observed
from hybridalloc.bounds.linear_program import Builder
from hybridalloc.bounds.space import has_place, units
from hybridalloc.cost_model import compile_costs
from hybridalloc.problem import Problem
from hybridalloc.program import Memory


class Running:
    """Columns and rows of every instruction.

    ``elapsed >= k(t) * face`` for each face of ``elapsed``, and time that copies take
    ``<= elapsed - k(t) * (slow traffic)``. A column may exceed what its rows ask for:
    that is time spent on copies alone, a stall, which costs as much.
    """

    def __init__(
        self,
        builder: Builder,
        problem: Problem,
        free: Ints,
        unit_s: float,
        deadline: float,
    ) -> None:
        """Add them.

        Args:
            builder: Gets them.
            problem: The program, target and cost model.
            free: (T,): units of fast memory that allocations may take.
            unit_s: Seconds in one unit of time.
            deadline: When to be done, in seconds of ``time.monotonic()``.

        Raises:
            TimeoutError: It has passed.
        """
        self._builder, self._problem = builder, problem
        self._costs = compile_costs(problem)
        self.runs: Floats = self._costs.runs / unit_s
        """(T,): how often each instruction runs, divided by ``unit_s``."""
        self.served: dict[tuple[int, int], int] = {}
        """The column of each access that may be fast, by instruction and buffer."""
        self.columns: list[int] = []
        """What each instruction takes in one run."""
        self.idle_rows: list[int] = []
        """Time that copies take out of each instruction <= its idle time."""
        most_idle = []
        for t in range(len(problem.program)):
            require_time(deadline)
            columns = self._serve(t, int(free[t]))
            self.columns.append(self._elapsed(t, columns))
            most_idle.append(self._idle(t, columns))
        self.most_idle: Floats = np.array(most_idle)
        """(T,): the most idle time of each instruction."""

    def _serve(self, t: int, free: int) -> dict[int, int]:
        """The column of each access that may be fast, by the access's index."""
        columns = {}
        first = int(self._costs.first_access[t])
        target = self._problem.target
        alignment = target.fast.alignment
        accesses = self._problem.program.instructions[t].accesses
        for i, access in enumerate(accesses, start=first):
            buffer = self._problem.program.buffers[access.buffer]
            pinned = buffer.memory is Memory.FAST
            fits = units(buffer.size, alignment) <= free and has_place(buffer, target)
            if pinned or (fits and buffer.memory is not Memory.SLOW):
                columns[i] = self._builder.choice(low=float(pinned))
                self.served[t, access.buffer] = columns[i]
                if not has_place(buffer, target):
                    self._builder.row([(columns[i], 1.0)], high=0.0)
        return columns

    def _elapsed(self, t: int, columns: dict[int, int]) -> int:
        runs, builder = float(self.runs[t]), self._builder
        # Rare, and only they are slower or faster than what the faces say.
        seen = [x for x in observed(self._costs, t) if x.fast <= columns.keys()]
        match = {x.fast: self._match(x, columns) for x in seen}
        column = builder.column(cost=1.0)
        low, high = 0.0, max((x.seconds for x in seen), default=0.0)
        for face in faces(self._costs, t):
            high = max(high, face.most)
            slopes = [(columns[i], face.slopes[i]) for i in face.slopes if i in columns]
            relief = [(match[x.fast], face.at(x.fast) - x.seconds) for x in seen]
            relief = [(x, amount) for x, amount in relief if amount > 0]
            low = max(low, face.constant + sum(min(0.0, slope) for _, slope in slopes))
            if not slopes and not relief:
                continue
            entries = [(x, -runs * slope) for x, slope in slopes]
            entries += [(x, runs * amount) for x, amount in relief]
            builder.row([(column, 1.0), *entries], low=runs * face.constant)
        low = min([low, *(x.seconds for x in seen)])
        high = max(high, float(self._costs.empty_s[t]))
        builder.low[column], builder.high[column] = runs * low, runs * high
        return column

    def _match(self, seen: Observed, columns: dict[int, int]) -> int:
        """A column that is 1 at most where exactly this placement is chosen."""
        match = self._builder.column()
        for i, column in columns.items():
            if i in seen.fast:
                self._builder.row([(match, 1.0), (column, -1.0)], high=0.0)
            else:
                self._builder.row([(match, 1.0), (column, 1.0)], high=1.0)
        return match

    def _idle(self, t: int, columns: dict[int, int]) -> float:
        """Add the row of idle time: the most that there can be."""
        runs, costs = float(self.runs[t]), self._costs
        accesses = range(costs.first_access[t], costs.first_access[t + 1])
        slow = {i: runs * float(costs.slow_s[i]) for i in accesses}
        entries = [(column, -slow[i]) for i, column in columns.items()]
        elapsed = self.columns[t]
        self.idle_rows.append(
            self._builder.row([(elapsed, -1.0), *entries], high=-sum(slow.values()))
        )
        always = sum(slow[i] for i in accesses if i not in columns)
        return max(0.0, self._builder.high[elapsed] - always)


def require_time(deadline: float) -> None:
    """Raise ``TimeoutError`` if a moment of ``time.monotonic()`` has passed."""
    if time.monotonic() > deadline:
        raise TimeoutError("no time is left to set up the relaxation")
