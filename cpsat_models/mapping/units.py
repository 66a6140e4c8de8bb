"""Whole units of time and work, and what their rounding may cost.

CP-SAT counts in whole numbers. Times and works are rounded down and idle times up, so
that each real run, rounded so, is a solution: with works a little smaller and idle
times a little longer no copy is later, and if then the work done by each point is
rounded down it grows in a step by less than one unit more than it did. So each *step*,
an instruction or a stall, gets a slack of a few units of time that it does not pay for,
and the least objective is a lower bound of the true time. A unit is so short that all
slack together, each as often as its step runs, is at most ``ROUNDING`` of the time with
everything in slow memory, unless there would be more than ``MOST_UNITS`` of them: then
proofs get weaker, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hybridalloc.problem import Problem

ROUNDING = 1e-6
MOST_UNITS = 10**11
LEAST_UNITS = 10**7
LONGEST = 1e13
"""No time is longer than so many, so that CP-SAT can hold sums of them."""
STALL_SLACK = 3
"""Units that a stall yields without being paid: one for each queue, one for itself."""


@dataclass(frozen=True, slots=True)
class Units:
    """How long a unit is."""

    second: float
    """Units in a second."""

    def down(self, seconds: float) -> int:
        """Units, rounded down."""
        return math.floor(seconds * self.second)

    def up(self, seconds: float) -> int:
        """Units, rounded up."""
        return math.ceil(seconds * self.second)

    def seconds(self, units: float) -> float:
        """Seconds."""
        return units / self.second


def units_for(problem: Problem, slow_s: float, longest_s: float = 0.0) -> Units:
    """Units short enough for a problem.

    Args:
        problem: What is to be mapped.
        slow_s: Seconds of one run with everything in slow memory.
        longest_s: Seconds of one run at most, if that is much more.
    """
    program = problem.program
    slack = sum(
        count * (idle_slack(len(x.accesses)) + 2 * STALL_SLACK)
        for count, x in zip(program.multiplicity, program.instructions, strict=True)
    )
    wanted = max(LEAST_UNITS, slack / ROUNDING)
    longest_s = max(slow_s, longest_s) + _copies_s(problem)
    second = min(wanted, MOST_UNITS) / slow_s if slow_s > 0 else 1.0
    return Units(min(second, LONGEST / longest_s) if longest_s > 0 else second)


def _copies_s(problem: Problem) -> float:
    """Seconds that copies of all buffers take, back and forth around each access."""
    program, slow = problem.program, problem.target.slow
    a_byte_s = 1 / slow.read_bandwidth + 1 / slow.write_bandwidth
    startup_s = 2 * problem.target.copy_engine.startup_s
    return sum(
        len(uses) * (startup_s + buffer.size * a_byte_s)
        for buffer, uses in zip(program.buffers, program.uses, strict=True)
    )


def idle_slack(accesses: int) -> int:
    """Units that an instruction with so many accesses yields without being paid.

    One for its time, for each access, and for the work done of each queue.
    """
    return accesses + 4
