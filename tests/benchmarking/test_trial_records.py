"""Records of trials, in files."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest
from trial_records import ANSWER, FACTS, TRIAL, failure, proof

from hybridalloc.benchmarking.records import RecordFolder, TrialRecord
from hybridalloc.errors import InputError
from hybridalloc.solver import Infeasibility

RECORDS = {
    "answered": TrialRecord(
        TRIAL,
        replace(FACTS, history=((0.5, 1.5, "a"), (2.0, 1.0, "b")), warnings=("w",)),
        ANSWER,
    ),
    "infeasible": TrialRecord(
        TRIAL,
        FACTS,
        replace(
            ANSWER,
            status="infeasible",
            time_s=None,
            infeasibility=Infeasibility(3, 4, ("x",)),
        ),
    ),
    "bound": proof("net", 0.5),
    "failed": failure("net", "greedy", "ValueError: no"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    folder = RecordFolder(tmp_path)
    folder.write(RECORDS[name])
    assert folder.read() == (RECORDS[name],)


def test_a_record_is_the_object_of_solve_and_more() -> None:
    record = RECORDS["answered"]
    values = record.as_json()
    assert values.items() >= ANSWER.as_json().items()
    assert values["instructions"] == 50
    assert values["history"] == ((0.5, 1.5, "a"), (2.0, 1.0, "b"))


def test_a_bound_that_is_not_finite_is_null() -> None:
    assert proof("net", math.inf).as_json()["proven_s"] is None


def test_of_the_same_trial_the_newest_record_counts(tmp_path: Path) -> None:
    folder = RecordFolder(tmp_path)
    old = RECORDS["answered"]
    new = replace(
        old,
        trial=replace(TRIAL, version="0.9"),
        facts=replace(FACTS, started="2026-02-01T00:00:00+00:00"),
    )
    for record in (new, old):
        folder.write(record)
    assert folder.read() == (new,)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"[" * 100_000, b"{}", b"\xff\xfe"),
        b'{"format": "hybridalloc/trial"}',
    ],
)
def test_a_file_that_is_no_record_is_left_out_with_a_warning(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "odd.json").write_bytes(content)
    with pytest.warns(UserWarning, match=r"odd\.json: no record of a trial"):
        assert RecordFolder(tmp_path).read() == ()


@pytest.mark.parametrize(
    "odd",
    [{"seed": "many"}, {"time_s": math.nan}, {"slow_s": -1}, {"bound_s": math.inf}],
)
def test_a_record_with_a_field_of_another_kind_is_none(
    odd: dict[str, object], tmp_path: Path
) -> None:
    values = json.loads(json.dumps(RECORDS["answered"].as_json()))
    (tmp_path / "odd.json").write_text(json.dumps({**values, **odd}))
    with pytest.warns(UserWarning, match="no record"):
        assert RecordFolder(tmp_path).read() == ()


def test_the_record_of_another_trial_settles_none(tmp_path: Path) -> None:
    folder, other = RecordFolder(tmp_path), replace(TRIAL, seed=TRIAL.seed + 1)
    folder.write(RECORDS["answered"])
    folder.file(other).write_bytes(folder.file(TRIAL).read_bytes())
    assert folder.is_settled(TRIAL)
    assert not folder.is_settled(other)


def test_a_folder_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> bool:
        raise PermissionError(13, "Permission denied")

    folder = RecordFolder(tmp_path)
    monkeypatch.setattr(Path, "exists", refused)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not folder.is_settled(TRIAL)
    with pytest.raises(InputError, match="expected a folder to read and to write"):
        folder.create()
