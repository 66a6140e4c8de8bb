"""What the records of a benchmark say of CSV files of buffers."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hybridalloc.benchmarking.measurements import known
from hybridalloc.benchmarking.records import Ending, TrialRecord
from hybridalloc.report.records import geometric_mean
from hybridalloc.report.static import StaticRecord
from hybridalloc.solver import Status


@dataclass(frozen=True, slots=True)
class PlacementRun:
    """One strategy on one file with one seed."""

    record: StaticRecord
    buffers: int
    cpu_s: float | None
    """CPU seconds of the search, of all its threads."""


@dataclass(frozen=True, slots=True)
class PlacementSummary:
    """A strategy over all files and seeds."""

    strategy: str
    runs: int
    """How many searches ended."""
    fitting: int
    """How many of them found offsets."""
    proven: int
    """How many found the least capacity, or that none fits, with a proof."""
    ratio: float | None
    """Geometric mean of the capacity reached over the maximum load."""
    worst_ratio: float | None
    mean_runtime_s: float
    longest_runtime_s: float
    cpu_s: float
    """CPU seconds of all searches together."""


@dataclass(frozen=True, slots=True)
class PlacementSection:
    """Searches under the same limits, ordered by file."""

    time_limit_s: float
    workers: int
    runs: tuple[PlacementRun, ...]
    summaries: tuple[PlacementSummary, ...]
    """In the order of the strategies' names."""


def placement_sections(records: Iterable[TrialRecord]) -> tuple[PlacementSection, ...]:
    """All searches for offsets, by their limits, the longest first."""
    grouped: dict[tuple[float, int], list[PlacementRun]] = defaultdict(list)
    for record in records:
        trial, facts, found = record.trial, record.facts, record.placement
        if facts.ending is Ending.DONE and found is not None:
            run = PlacementRun(found, facts.buffers or 0, facts.cpu_s)
            grouped[-trial.time_limit_s, trial.workers].append(run)
    return tuple(
        PlacementSection(-limit, workers, tuple(runs), _summaries(runs))
        for (limit, workers), runs in sorted(grouped.items())
    )


def _summaries(runs: Sequence[PlacementRun]) -> tuple[PlacementSummary, ...]:
    names = sorted({run.record.strategy for run in runs})
    return tuple(
        _summary(name, [run for run in runs if run.record.strategy == name])
        for name in names
    )


def _summary(strategy: str, runs: Sequence[PlacementRun]) -> PlacementSummary:
    """The sum of what a strategy did; there is at least one run."""
    records = [run.record for run in runs]
    ratios = known(record.ratio for record in records)
    proofs = (Status.OPTIMAL, Status.INFEASIBLE)
    return PlacementSummary(
        strategy=strategy,
        runs=len(runs),
        fitting=sum(record.peak_bytes is not None for record in records),
        proven=sum(record.status in proofs for record in records),
        ratio=geometric_mean(ratios),
        worst_ratio=max(ratios, default=None),
        mean_runtime_s=statistics.fmean(record.runtime_s for record in records),
        longest_runtime_s=max(record.runtime_s for record in records),
        cpu_s=sum(known(run.cpu_s for run in runs)),
    )
