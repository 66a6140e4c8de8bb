"""Which programs folders hold, and how many trials a machine takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from named_problems import CHAIN

from hybridalloc.benchmarking.machine import cores, machine, most_processes
from hybridalloc.benchmarking.workloads import find_workloads
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.json_format import write_map, write_problem
from hybridalloc.memory_map import MemoryMap


@pytest.fixture
def mixed(bundled: Path, tmp_path: Path) -> Path:
    """A folder with two programs, and with what is none."""
    shutil.copytree(bundled / "lstm_lm_b64_s128", tmp_path / "lstm_lm_b64_s128")
    write_problem(CHAIN, tmp_path / "chain.json")
    write_map(MemoryMap(), CHAIN, tmp_path / "chain_map.json")
    (tmp_path / "index.json").write_text("[]")
    (tmp_path / "README.md").write_text("text")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_a_folder_holds_workload_folders_and_problem_files(mixed: Path) -> None:
    found = find_workloads([mixed])
    assert [x.name for x in found] == ["chain", "lstm_lm_b64_s128"]
    assert [x.family for x in found] == ["chain", "lstm"]


def test_a_folder_holds_models_whatever_the_case_of_their_names(
    tmp_path: Path,
) -> None:
    for name in ("a.onnx", "b.ONNX", "c.PT2", "weights.pt", "weights.PTH"):
        (tmp_path / name).touch()
    found = find_workloads([tmp_path])
    assert {x.path.name for x in found} == {"a.onnx", "b.ONNX", "c.PT2"}


def test_a_program_named_twice_is_one(mixed: Path) -> None:
    file = mixed / "chain.json"
    both = find_workloads([mixed, file, mixed / "empty" / ".." / "chain.json"])
    assert both == find_workloads([mixed])


def test_a_program_and_its_copy_elsewhere_are_one(mixed: Path) -> None:
    again = shutil.copytree(mixed, mixed / "again")
    assert len(find_workloads([mixed, again])) == 2


def test_a_workload_folder_and_a_text_may_be_named_themselves(mixed: Path) -> None:
    folder = mixed / "lstm_lm_b64_s128"
    text = folder / "before_msa.hlo.gz"
    assert {x.path for x in find_workloads([folder, text])} == {folder, text}


def test_a_folder_with_one_that_cannot_be_read_is_an_error(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_file = Path.is_file

    def refused(path: Path) -> bool:
        if path.parent.name == "empty":
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(InputError, match=r"cannot read this folder: .*empty"):
        find_workloads([mixed])


@pytest.mark.parametrize("name", ["empty", "nowhere"])
def test_a_path_without_any_program_is_an_error(mixed: Path, name: str) -> None:
    with pytest.raises(InputError, match=name):
        find_workloads([mixed / name])


def test_the_digest_follows_the_content_of_every_file(mixed: Path) -> None:
    before = find_workloads([mixed])
    (mixed / "lstm_lm_b64_s128" / "cycles.csv.gz").unlink()
    after = find_workloads([mixed])
    assert before[0] == after[0]
    assert before[1].digest != after[1].digest


@pytest.mark.parametrize(
    ("stats", "family"),
    [({"family": "rnn"}, "rnn"), ({}, "lstm"), ([1], "lstm"), (None, "lstm")],
)
def test_the_family_is_what_the_folder_says_or_its_name(
    mixed: Path, stats: object, family: str
) -> None:
    folder = mixed / "lstm_lm_b64_s128"
    text = "not JSON" if stats is None else json.dumps(stats)
    (folder / "stats.json").write_text(text)
    assert find_workloads([folder])[0].family == family


@pytest.mark.parametrize(
    ("workers", "asked", "available", "processes"),
    [(1, None, 2, 2), (2, None, 5, 2), (4, None, 4, 1), (2, 1, 8, 1), (2, 4, 8, 4)],
)
def test_processes_times_workers_are_at_most_the_cores(
    workers: int, asked: int | None, available: int, processes: int
) -> None:
    assert most_processes(workers, asked, available) == processes
    assert processes * workers <= available


@pytest.mark.parametrize(("workers", "asked"), [(3, None), (2, 2), (1, 3)])
def test_more_than_the_cores_are_refused(workers: int, asked: int | None) -> None:
    with pytest.raises(UsageError, match="expected at most the cores, 2"):
        most_processes(workers, asked, 2)


def test_a_machine_has_a_core_and_a_description() -> None:
    assert cores() >= 1
    assert "Python 3." in machine()
