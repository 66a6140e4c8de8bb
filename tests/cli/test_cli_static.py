from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command

from hybridalloc.io.minimalloc import read_buffers

LATTICE = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"


@pytest.fixture
def lattice(tmp_path: Path) -> Path:
    path = tmp_path / "lattice.12.csv"
    path.write_text(LATTICE)
    return path


def test_solve_takes_the_capacity_from_the_name(
    command: Command, lattice: Path
) -> None:
    ran = command("solve", lattice, "--json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert (found["status"], found["capacity_bytes"]) == ("optimal", 12)
    assert (found["peak_bytes"], found["load_bytes"]) == (12, 12)
    assert found["load_buffers"] == ["b1", "b3", "b5"]


def test_solve_says_why_there_is_no_answer(command: Command, lattice: Path) -> None:
    ran = command("solve", lattice, "--capacity", "11", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["status"], found["valid"]) == (1, "infeasible", None)
    assert found["infeasibility"]["instant"] == 0
    assert found["infeasibility"]["excess_bytes"] == 1
    assert found["infeasibility"]["culprits"] == ["b1", "b3", "b5"]
    assert "1 B too much" in command("solve", lattice, "--capacity", "11").out


def test_a_time_out_has_an_exit_code_of_its_own(
    command: Command, lattice: Path
) -> None:
    ran = command("solve", lattice, "--time-limit", "0", "--json")
    assert ran.code == 3
    assert json.loads(ran.out)["status"] == "unknown"


def test_the_least_capacity_is_looked_for(command: Command, lattice: Path) -> None:
    ran = command(
        "solve", lattice, "--capacity", "1MiB", "--minimize-capacity", "--json"
    )
    found = json.loads(ran.out)
    assert (found["status"], found["peak_bytes"]) == ("optimal", 12)


def test_what_is_reserved_stays_free(command: Command, lattice: Path) -> None:
    options = ["--capacity", "99", "--minimize-capacity", "--reserve", "0:4"]
    found = json.loads(command("solve", lattice, *options, "--json").out)
    assert found["peak_bytes"] == 16


def test_offsets_are_written_in_three_formats(
    command: Command, lattice: Path, tmp_path: Path
) -> None:
    for name in ("out.csv", "out.h", "out.json"):
        assert command("solve", lattice, "--out", tmp_path / name).code == 0
    offsets = json.loads((tmp_path / "out.json").read_text())["offsets"]
    written = read_buffers(tmp_path / "out.csv").buffers
    assert {x.name: x.offset for x in written} == offsets
    header = (tmp_path / "out.h").read_text()
    assert "#define OUT_ARENA_SIZE 12\n" in header
    assert f"#define OUT_OFFSET_B4 {offsets['b4']}\n" in header
    assert command("solve", tmp_path / "out.csv", "--capacity", "12").code == 0


def test_options_that_do_not_apply_are_refused(command: Command, lattice: Path) -> None:
    ran = command("solve", lattice, "--target", "tpu-v4i")
    assert ran.code == 2
    assert "--target: does not apply" in ran.err
    ran = command("solve", lattice, "--out", "offsets.txt")
    assert (ran.code, ".csv, .h, .json" in ran.err) == (2, True)


def test_a_program_has_no_least_capacity(command: Command, bundled: Path) -> None:
    ran = command("solve", bundled / "gcn3_train_n4096", "--minimize-capacity")
    assert ran.code == 2
    assert "expected a CSV file of buffers" in ran.err


def test_the_temporaries_of_a_program_become_a_csv_file(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    out = tmp_path / "temporaries.csv"
    assert command("convert", bundled / "gcn3_train_n4096", "--out", out).code == 0
    ran = command("solve", out, "--json")
    assert json.loads(ran.out)["status"] == "optimal"
