"""A benchmark: every trial that is not settled yet, then the proofs of bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hybridalloc.benchmarking.performing import Task
from hybridalloc.benchmarking.processes import Watch, perform_all
from hybridalloc.benchmarking.records import Ending, RecordFolder, TrialRecord
from hybridalloc.benchmarking.trials import ProgramCase, Settings, Trial
from hybridalloc.benchmarking.workloads import Workload


@dataclass(frozen=True, slots=True)
class Planned:
    """A trial to do, and where its program is."""

    trial: Trial
    workload: Workload


def plan(
    workloads: Sequence[Workload],
    settings: Settings,
    folder: RecordFolder,
    *,
    fresh: bool = False,
) -> tuple[Planned, ...]:
    """What is to be done: searches, then proofs of bounds.

    Args:
        workloads: The programs.
        settings: What to try on each.
        folder: Where records are kept.
        fresh: Do what is settled, too: what has a record that is not of a failure.
    """
    places = {(workload.name, workload.digest): workload for workload in workloads}
    trials = [*settings.searches(workloads), *settings.bounds(workloads)]
    return tuple(
        Planned(trial, places[trial.name, trial.digest])
        for trial in trials
        if fresh or not folder.is_settled(trial)
    )


def run_benchmark(
    planned: Sequence[Planned],
    folder: RecordFolder,
    processes: int,
    watch: Watch,
    maps: Path | None = None,
) -> None:
    """Do what is planned, and keep a record of each trial as it ends.

    Args:
        planned: What to do.
        folder: Where records are kept; those of other benchmarks stay.
        processes: How many trials run at a time.
        watch: Is told how it goes.
        maps: The folder for pages of the maps that are found, if there are to be any.

    Raises:
        KeyboardInterrupt: Ctrl-C; what has ended by then is kept.
    """
    folder.create()
    searches = [
        replace(_task(x, processes), maps=maps) for x in planned if not x.trial.is_bound
    ]
    perform_all(searches, folder, processes, watch)
    known = best_times(folder.read())
    bounds = [
        _task(x, processes, known.get(x.trial.case))
        for x in planned
        if x.trial.is_bound
    ]
    perform_all(bounds, folder, processes, watch)


def best_times(records: Iterable[TrialRecord]) -> dict[ProgramCase, float]:
    """The least time of each program, of all strategies, in seconds."""
    best: dict[ProgramCase, float] = {}
    for record in records:
        if record.facts.ending is not Ending.DONE or record.answer is None:
            continue
        if (time_s := record.answer.time_s) is not None:
            case = record.trial.case
            best[case] = min(time_s, best.get(case, time_s))
    return best


def _task(planned: Planned, processes: int, known_s: float | None = None) -> Task:
    workload = planned.workload
    path = workload.path.absolute()
    return Task(planned.trial, path, workload.family, processes, known_s)
