"""``solve --expressible`` and ``apply``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command

from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap


@pytest.fixture
def plan(command: Command, bundled: Path, tmp_path: Path) -> Path:
    """An expressible map of a program, faster than the compiler's own."""
    path = tmp_path / "plan.json"
    ran = command(
        *("solve", bundled / "mixer_block_b128", "--strategy", "greedy>search"),
        *("--expressible", "--time-limit", "4", "--bound-time", "0", "--out", path),
    )
    assert (ran.code, ran.err) == (0, "")
    return path


def test_what_is_expressible_is_written_as_a_whole(
    command: Command, bundled: Path, plan: Path, tmp_path: Path
) -> None:
    program, out = bundled / "mixer_block_b128", tmp_path / "options.json"
    ran = command("apply", program, plan, "--out", out, "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["left_out"], found["is_worth_it"]) == (0, [], True)
    assert found["given_s"] == found["planned_s"] <= found["default_s"]
    written = json.loads(out.read_text())
    assert written["compiler_options"] == found["compiler_options"]
    assert written["environment"] == found["environment"]


def test_a_plan_slower_than_the_compilers_own_is_not_written(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    program, slow = bundled / "mixer_block_b128", tmp_path / "slow.json"
    write_map(MemoryMap(), read_problem(program), slow)
    out = tmp_path / "options.sh"
    ran = command("apply", program, slow, "--out", out)
    assert ran.code == 0
    assert "deploy its defaults" in ran.out
    assert not out.exists()
    ran = command("apply", program, slow, "--out", out, "--anyway")
    assert f"options written to {out}" in ran.out
    assert "memory_space_assignment=0" in out.read_text()


def test_wrong_use_is_one_line(
    command: Command, bundled: Path, plan: Path, tmp_path: Path
) -> None:
    program = bundled / "mixer_block_b128"
    for given, message in (
        (("--out", tmp_path / "options.txt"), "ends in .json or .sh"),
        (("--verify", "model.py:f"), "--args SPEC: expected both"),
        (("--args", "f32[2]"), "--args SPEC: expected both"),
        (("--verify", "none.py:f", "--args", "f32[2]"), "there is no file none.py"),
    ):
        ran = command("apply", program, plan, *given)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert message in ran.err


def test_a_problem_without_hlo_is_refused(
    command: Command, bundled: Path, plan: Path, tmp_path: Path
) -> None:
    problem = tmp_path / "problem.json"
    assert command("convert", bundled / "mixer_block_b128", "--out", problem).code == 0
    ran = command("apply", problem, plan)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "expected a workload folder or HLO text" in ran.err


def test_it_is_verified_by_compiling_again(
    command: Command, jax: Path, program: str, work: Path
) -> None:
    """The stand-in for the compiler carries out one plan, whatever it is told."""
    given = (f"{program}:double", "--args", "f32[1024]")
    assert command("capture", *given, "--out", work / "captured").code == 0
    found = command(
        *("apply", work / "captured", "input", "--json"),
        *("--verify", f"{program}:double", "--args", "f32[1024]"),
    )
    told = json.loads(found.out)
    assert (told["allocations"], told["exact"]) == (1, 1)
    assert told["planned_s"] == told["realised_s"] == told["default_s"]
    assert told["differences"] == []
