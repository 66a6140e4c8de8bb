"""How good the best maps so far are, over the seconds of search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hybridalloc.benchmarking.measurements import Measurement, Section, known
from hybridalloc.report.records import geometric_mean

QUALITY_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""When the best map so far is looked at, in seconds of search."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How good the best map of a strategy is, over the seconds of search."""

    strategy: str
    points: tuple[tuple[float, float], ...]
    """Seconds, and the geometric mean of the speed-up over the reference; before its
    first map, a strategy counts as all-slow."""


def quality(
    section: Section, moments: Iterable[float] = QUALITY_S
) -> tuple[Curve, ...]:
    """The curve of each strategy, at those moments that are within the time limit."""
    limit = section.conditions.time_limit_s
    within = [moment for moment in moments if moment <= limit]
    curves = []
    for strategy in section.strategies:
        means = [
            (moment, mean)
            for moment in within
            if (mean := geometric_mean(_speedups_at(section, strategy, moment)))
        ]
        curves.append(Curve(strategy, tuple(means)))
    return tuple(curves)


def time_at(measured: Measurement, moment: float) -> float:
    """The time of the best map found by some moment, in seconds; all-slow before."""
    found = (time_s for when, time_s, _ in measured.history if when <= moment)
    return min(found, default=measured.slow_s)


def _speedups_at(section: Section, strategy: str, moment: float) -> list[float]:
    by_then = (replace(x, time_s=time_at(x, moment)) for x in section.of(strategy))
    return known(section.speedup(x) for x in by_then)
