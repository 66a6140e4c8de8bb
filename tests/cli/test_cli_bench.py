"""``bench``, with two of the programs that come with the project."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from commands import Command
from named_problems import CHAIN

from hybridalloc.benchmarking.performing import Task
from hybridalloc.cli import bench as bench_command
from hybridalloc.io.json_format import write_problem
from hybridalloc.report.benchmark import record_folder

PROGRAMS = ("gcn3_train_n4096", "lstm_lm_b64_s128")


@pytest.fixture
def given(bundled: Path, tmp_path: Path) -> list[str]:
    """Two programs, two strategies, and one second."""
    folders = [str(bundled / name) for name in PROGRAMS]
    limits = ["--time-limits", "1", "--out", str(tmp_path / "out")]
    return [*folders, "--strategies", "slow,greedy", *limits]


def test_a_benchmark_is_reported_and_finished_once(
    command: Command, given: list[str], tmp_path: Path
) -> None:
    ran = command("bench", *given)
    assert (ran.code, ran.err) == (0, "")
    assert "times are simulated: roofline, tpu-v4i" in ran.out
    out = tmp_path / "out"
    assert len(list((out / "records").iterdir())) == 4
    assert "| lstm_lm_b64_s128 | 58 | 11.466 | 3.475 |" in (
        (out / "report.md").read_text()
    )
    before = {x: x.stat().st_mtime_ns for x in (out / "records").iterdir()}
    again = command("bench", *given)
    assert again.out == ran.out
    assert {x: x.stat().st_mtime_ns for x in (out / "records").iterdir()} == before


def test_maps_are_drawn_beside_the_compilers_and_linked_to(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    program, out = bundled / "lstm_lm_b64_s128", tmp_path / "out"
    limits = ("--time-limits", "1", "--strategies", "greedy", "--out", out)
    ran = command("bench", program, *limits, "--maps")
    assert (ran.code, ran.err) == (0, "")
    (page,) = (out / "maps").iterdir()
    assert page.name.startswith("lstm_lm_b64_s128.roofline.1s.greedy.")
    assert "B: greedy" in page.read_text()
    assert f"](maps/{page.name})" in (out / "report.md").read_text()


def test_a_page_that_cannot_be_written_is_a_warning(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    (tmp_path / "maps").write_text("in the way")
    program = bundled / "lstm_lm_b64_s128"
    limits = ("--time-limits", "1", "--strategies", "slow", "--out", tmp_path)
    assert command("bench", program, *limits, "--maps").code == 0
    assert "no page of the map: " in (tmp_path / "report.md").read_text()


def test_ctrl_c_keeps_what_has_ended_and_the_same_command_goes_on(
    command: Command, given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = bench_command._description
    calls = iter(range(100))

    def interrupt(running: list[Task]) -> str:
        if next(calls) == 3:  # two have begun, one of them has ended, one more began
            signal.raise_signal(signal.SIGINT)
        return describe(running)

    monkeypatch.setattr(bench_command, "_description", interrupt)
    ran = command("bench", *given, "--json", "--processes", "2")
    report = json.loads(ran.out)
    kept = record_folder(tmp_path / "out").read()
    assert (ran.code, report["missing"]) == (0, 4 - len(kept))
    assert 1 <= len(kept) < 4
    assert "**Incomplete**" in (tmp_path / "out" / "report.md").read_text()
    monkeypatch.undo()
    report = json.loads(command("bench", *given, "--json").out)
    assert report["missing"] == 0
    (section,) = report["sections"]
    assert [x["runs"] for x in section["summaries"] if x["mean_runtime_s"]] == [2, 2]
    assert set(kept) <= set(record_folder(tmp_path / "out").read())


def test_ctrl_c_before_any_record_is_the_end(
    command: Command, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(running: list[Task]) -> str:
        signal.raise_signal(signal.SIGINT)
        return ""

    monkeypatch.setattr(bench_command, "_description", interrupt)
    ran = command("bench", *given)
    assert (ran.code, ran.out) == (130, "")


def test_without_a_program_only_the_report_is_made(
    command: Command, tmp_path: Path
) -> None:
    write_problem(CHAIN, tmp_path / "chain.json")
    out = tmp_path / "out"
    options = ["--strategies", "slow", "--bound-time", "1", "--out", out]
    ran = command("bench", tmp_path / "chain.json", *options)
    assert ran.code == 0
    (out / "report.md").unlink()
    again = command("bench", "--out", out)
    assert (again.code, again.out) == (0, ran.out)
    assert (out / "report.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "nowhere"], "nowhere: no records of a benchmark"),
        (["none"], "none: cannot read this file"),
        ([".", "--strategies", "magic"], "unknown strategy 'magic'"),
        ([".", "--time-limits", "5,soon"], "--time-limits '5,soon'"),
        ([".", "--time-limits", "inf"], "expected finite seconds"),
        ([".", "--cost-models", "roofline,real"], "'real'"),
        ([".", "--seeds", "-1"], "expected whole numbers >= 0"),
        ([".", "--bound-time", "inf"], "--bound-time 'inf': expected finite seconds"),
        ([".", "--workers", "1000"], "1000 workers: expected at most the cores"),
        ([".", "--target", "tpu-v0"], "unknown target 'tpu-v0'"),
    ],
)
def test_bad_usage_is_one_line_before_anything_runs(
    command: Command,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_problem(CHAIN, tmp_path / "chain.json")
    ran = command("bench", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["chain.json"]
