"""What a benchmark is to do, and what of it is done."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from trial_records import ANSWER, FACTS, TRIAL

from hybridalloc.benchmarking.records import Ending, RecordFolder, TrialRecord
from hybridalloc.benchmarking.running import plan
from hybridalloc.benchmarking.trials import BOUND, Settings
from hybridalloc.benchmarking.workloads import Workload
from hybridalloc.errors import UsageError
from hybridalloc.problem import CostModel

WORKLOADS = [Workload(Path(x), x, 16 * x, x) for x in ("a", "b")]
SETTINGS = Settings(("slow", "greedy"), (5.0, 60.0), (CostModel.ROOFLINE,))
OTHERWISE: dict[str, Any] = {
    "name": "other",
    "digest": "f" * 16,
    "strategy": "slow",
    "cost_model": CostModel.CYCLES,
    "time_limit_s": 11.0,
    "seed": 1,
    "workers": 2,
    "given_target": "tpu-v4",
    "given_capacity_bytes": 4096,
    "robust": True,
    "version": "2.0",
}


def test_every_field_of_a_trial_is_part_of_its_key() -> None:
    assert list(OTHERWISE) == [field.name for field in fields(TRIAL)]
    keys = {replace(TRIAL, **{name: x}).key for name, x in OTHERWISE.items()}
    assert len(keys | {TRIAL.key}) == len(OTHERWISE) + 1
    assert replace(TRIAL).key == TRIAL.key


def test_a_record_is_named_for_people_and_fits_any_file_system() -> None:
    trial = replace(TRIAL, strategy='best(a@5s,b)>c(d="/")', time_limit_s=0.5)
    name = trial.file_name
    assert name.startswith("net.roofline.0.5s.best-a-5s-b-c-d=-")
    assert name.endswith(f".{trial.key}.json")
    assert (
        replace(trial, name="x" * 300).file_name
        == replace(trial, name="x" * 300).file_name
    )
    assert len(replace(trial, name="x" * 300).file_name.encode()) < 256


def test_a_strategy_written_twice_is_tried_once() -> None:
    settings = replace(SETTINGS, strategies=("greedy@5s", " greedy @ 5s", "greedy@5 s"))
    names = [trial.strategy for trial in settings.searches(WORKLOADS[:1])]
    assert names == ["greedy@5s"] * 2  # at two time limits


def test_all_is_tried_with_all() -> None:
    """2 programs, 2 strategies, 2 limits, 2 cost models, 3 seeds: 48."""
    settings = replace(
        SETTINGS,
        cost_models=(CostModel.ROOFLINE, CostModel.CYCLES),
        seeds=(0, 1, 2),
    )
    searches = settings.searches(WORKLOADS)
    assert len(searches) == len({x.key for x in searches}) == 48
    assert not any(x.is_bound for x in searches)


def test_a_bound_is_proven_once_for_each_program_and_cost_model() -> None:
    models = (CostModel.ROOFLINE, CostModel.CYCLES)
    settings = replace(SETTINGS, cost_models=models, seeds=(0, 1), bound_time_s=7.0)
    bounds = list(settings.bounds(WORKLOADS))
    assert [(x.name, x.cost_model) for x in bounds] == [
        ("a", "roofline"),
        ("b", "roofline"),
        ("a", "cycles"),
        ("b", "cycles"),
    ]
    assert {(x.strategy, x.time_limit_s) for x in bounds} == {(BOUND, 7.0)}
    assert list(SETTINGS.bounds(WORKLOADS)) == []


@pytest.mark.parametrize("strategy", ["nothing", BOUND])
def test_an_unknown_strategy_is_refused_before_anything_runs(strategy: str) -> None:
    with pytest.raises(UsageError):
        replace(SETTINGS, strategies=(strategy,)).searches(WORKLOADS)


def test_what_is_settled_is_not_planned_again_and_what_failed_is(
    tmp_path: Path,
) -> None:
    folder = RecordFolder(tmp_path)
    every = plan(WORKLOADS, SETTINGS, folder)
    endings = (Ending.DONE, Ending.SKIPPED, Ending.FAILED)
    for planned, ending in zip(every, endings, strict=False):
        facts = replace(FACTS, ending=ending)
        folder.write(TrialRecord(planned.trial, facts, ANSWER))
    assert plan(WORKLOADS, SETTINGS, folder) == every[2:]
    assert plan(WORKLOADS, SETTINGS, folder, fresh=True) == every


def test_a_record_cut_short_counts_as_missing(tmp_path: Path) -> None:
    folder = RecordFolder(tmp_path)
    every = plan(WORKLOADS, SETTINGS, folder)
    folder.write(TrialRecord(every[0].trial, FACTS, ANSWER))
    path = folder.file(every[0].trial)
    path.write_text(path.read_text()[:-20])
    assert plan(WORKLOADS, SETTINGS, folder) == every
