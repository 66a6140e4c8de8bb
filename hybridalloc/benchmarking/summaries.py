"""What many measurements come to, strategy by strategy."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hybridalloc.benchmarking.measurements import (
    BEST,
    XLA,
    Measurement,
    Section,
    known,
)
from hybridalloc.problem import CostModel
from hybridalloc.report.records import geometric_mean

TOLERANCE = 0.0005
"""The share of XLA's time within which a time counts as the same."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far times are above lower bounds, where there are any."""

    count: int
    median: float
    mean: float
    """The geometric mean of time over bound, less 1."""


@dataclass(frozen=True, slots=True)
class AgainstStart:
    """How robust searches compare with their starts under one cost model."""

    cost_model: str
    mean: float
    """Geometric mean of how many times faster."""
    worse: int
    """How many are slower, however little."""
    worst: float
    worst_program: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A strategy over all programs and seeds; ``None`` where nothing is known."""

    strategy: str
    runs: int
    """How many searches ended."""
    unanswered: int
    """How many of them found no map."""
    vs_slow: float | None
    """Geometric mean of how many times faster than all-slow."""
    vs_xla: float | None
    """The same against XLA's answer, where the input carries it."""
    wins: int
    """Against XLA's answer, beyond the tolerance."""
    ties: int
    losses: int
    worst_vs_xla: float | None
    worst_program: str | None
    """Where it does worst against XLA's answer."""
    gap: Gap | None
    """Over the best bound known."""
    own_gap: Gap | None
    """Over the bound that the strategy proved itself."""
    mean_runtime_s: float | None
    longest_runtime_s: float | None
    mean_peak_bytes: float | None
    """The highest address in use."""
    mean_moved_bytes: float | None
    vs_start: tuple[AgainstStart, ...] = ()
    """Of robust searches, under each cost model."""


def summarize(
    strategy: str, measured: Sequence[Measurement], tolerance: float = TOLERANCE
) -> Summary:
    """Sum up what a strategy did; there is at least one measurement."""
    against = [(x.vs_xla, x.program) for x in measured if x.vs_xla is not None]
    speedups = [speedup for speedup, _ in against]
    wins = sum(1 / x < 1 - tolerance for x in speedups)
    losses = sum(1 / x > 1 + tolerance for x in speedups)
    worst, where = min(against, default=(None, None))
    runtimes = known(x.runtime_s for x in measured)
    return Summary(
        strategy=strategy,
        runs=len(measured),
        unanswered=sum(x.time_s is None for x in measured),
        vs_slow=geometric_mean(known(x.vs_slow for x in measured)),
        vs_xla=geometric_mean(speedups),
        wins=wins,
        ties=len(speedups) - wins - losses,
        losses=losses,
        worst_vs_xla=worst,
        worst_program=where,
        gap=_gap(x.gap for x in measured),
        own_gap=_gap(x.own_gap for x in measured),
        mean_runtime_s=_mean(runtimes),
        longest_runtime_s=max(runtimes, default=None),
        mean_peak_bytes=_mean(x.peak_bytes for x in measured),
        mean_moved_bytes=_mean(x.moved_bytes for x in measured),
        vs_start=tuple(_against_start(measured)),
    )


def _against_start(measured: Sequence[Measurement]) -> Iterator[AgainstStart]:
    for model in CostModel:
        found = [
            (speedup, x.program)
            for x in measured
            if (speedup := (x.vs_start or {}).get(model)) is not None
        ]
        mean = geometric_mean(speedup for speedup, _ in found)
        if mean is not None:
            worse = sum(speedup < 1 for speedup, _ in found)
            yield AgainstStart(model.value, mean, worse, *min(found))


def summaries(section: Section, tolerance: float = TOLERANCE) -> tuple[Summary, ...]:
    """Each strategy, the best of all if there are several, and XLA's answers."""
    names = [*section.strategies]
    if len(names) > 1:
        names.append(BEST)
    names.append(XLA)
    return tuple(
        summarize(name, measured, tolerance)
        for name in names
        if (measured := section.of(name))
    )


def _mean(values: Iterable[float | None]) -> float | None:
    found = known(values)
    return statistics.fmean(found) if found else None


def _gap(values: Iterable[float | None]) -> Gap | None:
    found = known(values)
    mean = geometric_mean(1 + x for x in found)
    if mean is None:
        return None
    return Gap(len(found), statistics.median(found), mean - 1)
