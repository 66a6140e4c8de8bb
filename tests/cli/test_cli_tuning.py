"""``tune``, with the stand-in for the compiler."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from commands import Command
from tuning_cases import given, plant

from hybridalloc.tuning.claim import claimed


def test_what_was_found_before_a_compile_fails_is_written(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    plant(work / "out", program)
    (jax / "jax" / "__init__.py").write_text("raise RuntimeError('no more')")
    ran = command(*given(program, work / "out"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "no more" in ran.err
    found = json.loads((work / "out" / "report.json").read_text())
    assert [x["name"] for x in found["trials"]] == ["default"]


def test_what_was_written_stays_until_all_plans_are_taken_up_again(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    plant(work / "out", program)
    assert command(*given(program, work / "out")).code == 0
    report = (work / "out" / "report.json").read_text()
    assert "round-1a" in report
    (work / "out" / "round-1a" / "estimates.csv.gz").write_bytes(b"cut short")
    ran = command(*given(program, work / "out"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert (work / "out" / "report.json").read_text() == report


def test_a_folder_that_takes_no_files_is_one_line(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    for folder in (program, f"{program}/within"):
        ran = command(*given(program, Path(folder)))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"{folder}: cannot write to this folder" in ran.err


def test_a_folder_is_tuned_in_by_one_at_a_time(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    with claimed(work / "out"):
        ran = command(*given(program, work / "out"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "another process is tuning in this folder" in ran.err
    assert command(*given(program, work / "out")).code == 0


def test_the_target_may_have_less_memory_than_the_compilers_own_answer_needs(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    ran = command(*given(program, work / "out"), "--capacity", "2KiB", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["best"] == "default"


def test_the_command_writes_a_report_and_takes_measured_times(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    tune = (*given(program, work / "out"), "--time-limit", "50")
    plant(work / "out", program)
    ran = command(*tune)
    assert (ran.code, ran.err) == (0, "")
    assert "deploy its defaults" in ran.out
    assert not (work / "out" / "options.json").exists()
    times = work / "times.csv"
    times.write_text("instruction_name,seconds\ndoubled,1e-12\nnegated,1e-12\n")
    again = command(*tune, "--measured", f"round-1a={times}", "--json")
    found = json.loads(again.out)
    assert found == json.loads((work / "out" / "report.json").read_text())
    assert found["best"] == "round-1a"
    assert found["gain"] > 1
    assert (work / "out" / "options.json").exists()
    assert "| round-1a |" in (work / "out" / "report.md").read_text()


def test_wrong_measured_times_are_one_line(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    out = work / "out"
    wrong = work / "wrong.csv"
    wrong.write_text("instruction_name,seconds\ndoubled,soon\n")
    for measured, message in (
        ("times.csv", "expected PLAN=FILE.csv"),
        (f"default={work}/none.csv", "cannot read this file"),
        (f"default={wrong}", "wrong.csv:2: seconds: expected seconds, got 'soon'"),
        (f"round-7c={wrong}", "there is no plan round-7c here, only default"),
    ):
        ran = command(*given(program, out), "--measured", measured)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert message in ran.err
        assert not list(out.glob("*measured*"))


def test_measured_times_of_another_program_are_one_line(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    other = work / "other.csv"
    other.write_text("instruction_name,seconds\nfusion.7,1e-6\n")
    ran = command(*given(program, work / "out"), "--measured", f"default={other}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "other.csv: names no instruction of the program" in ran.err
    assert not list((work / "out").glob("*measured*"))


def test_a_program_without_estimates_is_one_line(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    plant(work / "out", program)
    none = b"instruction_name,cycles_msa,cycles_hbm,fast_operands,fast_outputs\n"
    (work / "out" / "program" / "cycles.csv.gz").write_bytes(gzip.compress(none))
    ran = command(*given(program, work / "out"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "needs the compiler's estimates" in ran.err
