"""What of a decision is worth its copies, and the idle time that it leaves them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hybridalloc.arrays import Floats
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.timing import Timing
from hybridalloc.stays import Stay

NEGLIGIBLE = 1e-7
"""What saves less than this share of the run time saves nothing."""
NEARLY = 1.01
"""Idle time may shrink by so much more than the copies that are saved take."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Stays that are worth having together."""

    stays: tuple[Stay, ...]
    cross_program: tuple[Stay, ...]
    """Those that begin as a cross-program prefetch."""
    idle: Floats
    """(T,): the seconds of each instruction that they leave for copies."""


def settle(
    plan: Plan, stays: Iterable[Stay], cross_program: Iterable[Stay] = ()
) -> Settled:
    """Leave out what saves nothing but idle time that its own copies take.

    The relaxation has no reason to avoid copies that hide. Those that take longest are
    looked at first.

    Args:
        plan: An empty one.
        stays: No two of them, nor of those below, share an access.
        cross_program: What begins as a cross-program prefetch, and is not left out.
    """
    timing, left = Timing(plan.problem), []
    for stay in (*cross_program, *stays):
        timing.serve(stay.buffer, stay.instructions, fast=True)
    least = NEGLIGIBLE * float(timing.elapsed @ timing.runs)
    works = [(_work(plan, stay), i, stay) for i, stay in enumerate(stays)]
    for work, _, stay in sorted(works, key=lambda x: (-x[0], x[1])):
        at = list(stay.instructions)
        elapsed, idle = timing.elapsed[at].copy(), timing.idle[at].copy()
        timing.serve(stay.buffer, stay.instructions, fast=False)
        longer = (timing.elapsed[at] - elapsed) @ timing.runs[at]
        less_idle = (idle - timing.idle[at]) @ timing.runs[at]
        if longer > least or less_idle > max(least, NEARLY * work):
            timing.serve(stay.buffer, stay.instructions, fast=True)
            left.append(stay)
    return Settled(tuple(left), tuple(cross_program), timing.idle.copy())


def _work(plan: Plan, stay: Stay) -> float:
    """Seconds of one run that its copies take."""
    work = 0.0 if stay.produced else plan.engine.work(stay)
    return work + (plan.engine.work(stay, evicted=True) if stay.evicts else 0.0)
