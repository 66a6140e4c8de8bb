"""``check``, ``info``, ``convert``, ``strategies`` and ``targets``."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from commands import Command

from hybridalloc.info import Info
from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.registry import STATIC_STRATEGIES, STRATEGIES
from hybridalloc.repetition import repeat
from hybridalloc.target import TARGETS

INFO_KEYS = [
    "instructions",
    "buffers",
    "accesses",
    "loops",
    "input_bytes",
    "temp_bytes",
    "peak_live_bytes",
    "slow_s",
    "fast_s",
    "xla_s",
    "xla_valid",
    "xla_peak_bytes",
    "bufferinfo_rows",
    "bufferinfo_matched",
    "benefit_rows",
    "benefit_within_1pct",
]


@pytest.fixture
def workload(bundled: Path) -> Path:
    return bundled / "mixer_block_b128"


@pytest.fixture
def overlapping(workload: Path, tmp_path: Path) -> Path:
    """A map that holds two inputs at the same place."""
    problem = read_problem(workload)
    inputs = [i for i, x in enumerate(problem.program.buffers) if x.is_input][:2]
    end = len(problem.program)
    stays = (Allocation(i, 0, 0, end, Origin.PREFETCHED, ready=1) for i in inputs)
    path = tmp_path / "map.json"
    write_map(MemoryMap(tuple(stays)), problem, path)
    return path


def test_the_compilers_own_answer_passes_checker_and_oracle(
    command: Command, workload: Path
) -> None:
    ran = command("check", workload, "input", "--oracle")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "valid (tpu-v4i, 128 MiB), and executes as the program does\n"


def test_check_names_each_violation_and_exits_with_one(
    command: Command, workload: Path, overlapping: Path
) -> None:
    ran = command("check", workload, overlapping)
    assert ran.code == 1
    assert any(line.startswith("overlap: ") for line in ran.out.splitlines())
    assert "not valid (tpu-v4i, 128 MiB): " in ran.out


def test_check_as_json_lists_violations_and_mismatches(
    command: Command, workload: Path, overlapping: Path
) -> None:
    ran = command("check", workload, overlapping, "--json", "--oracle")
    verdict = json.loads(ran.out)
    assert ran.code == 1
    assert verdict["valid"] is False
    assert "overlap" in [violation["rule"] for violation in verdict["violations"]]
    assert verdict["mismatches"]
    without = json.loads(command("check", workload, overlapping, "--json").out)
    assert without["mismatches"] is None


def test_a_map_is_checked_against_the_capacity_that_is_given(
    command: Command, workload: Path
) -> None:
    ran = command("check", workload, "input", "--capacity", "1MiB")
    assert ran.code == 1
    assert ran.out.startswith("offset: ")


def test_info_as_json_has_the_keys_of_the_contract(
    command: Command, workload: Path
) -> None:
    ran = command("info", workload, "--json")
    values = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert set(INFO_KEYS) <= set(values) == {field.name for field in fields(Info)}
    assert values["xla_valid"] is True
    assert values["fast_s"] <= values["xla_s"] <= values["slow_s"]


def test_info_is_unknown_where_the_input_does_not_tell(
    command: Command, workload: Path
) -> None:
    bare = workload / "before_msa.hlo.gz"
    values = json.loads(command("info", bare, "--json").out)
    assert values["xla_s"] is values["xla_valid"] is values["benefit_rows"] is None
    quick = ("--strategy", "slow", "--bound-time", 0)
    for given in (("info", bare), ("solve", bare, *quick)):
        told = command(*given).out
        assert "XLA" not in told
        assert "bufferinfo" not in told
    assert "XLA's own answer" in command("info", workload).out


def test_info_as_a_table_names_the_cost_model_and_the_target(
    command: Command, workload: Path
) -> None:
    lines = command("info", workload, "--cost-model", "cycles").out.splitlines()
    assert lines[0] == "mixer_block_b128; times are simulated: cycles, tpu-v4i"


@pytest.mark.parametrize("name", ["mixer.json", "mixer.json.gz"])
def test_a_converted_problem_has_the_same_answer(
    command: Command, workload: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    ran = command("convert", workload, "--out", out, "--cost-model", "cycles")
    assert (ran.code, ran.err) == (0, "")
    assert "simulated: cycles, tpu-v4i" in ran.out
    original = read_problem(workload, cost_model="cycles")
    assert read_problem(out) == original


def test_a_program_is_converted_as_often_as_it_is_to_run(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    """The long program is another one, so the compiler's answer is not its own."""
    out = tmp_path / "long.json"
    ran = command("convert", workload, "--repeat", 3, "--out", out)
    assert (ran.code, ran.err) == (0, "")
    once, long = read_problem(workload), read_problem(out)
    assert long == replace(once, program=repeat(once.program, 3), compiler_map=None)
    assert command("convert", workload, "--repeat", 0, "--out", out).code == 2


def test_strategies_lists_the_registry(command: Command) -> None:
    entries = {**STRATEGIES, **STATIC_STRATEGIES}
    assert json.loads(command("strategies", "--json").out) == {
        name: entry.description for name, entry in entries.items()
    }
    table = command("strategies").out
    assert all(entry.description in table for entry in entries.values())


def test_strategies_lists_the_options_of_one(command: Command) -> None:
    options = json.loads(command("strategies", "greedy", "--json").out)
    assert options["cross_programs"] == {
        "value": "int",
        "default": "20",
        "description": "How many cross-program prefetches to try.",
    }
    table = command("strategies", "greedy").out
    assert table.startswith(f"greedy: {STRATEGIES['greedy'].description}\n")
    assert "How many cross-program prefetches to try." in table
    assert command("strategies", "slow").out.endswith("\nno options\n")


def test_strategies_shows_what_a_composition_is_made_of(command: Command) -> None:
    entry = STRATEGIES["hybrid"]
    assert command("strategies", "hybrid").out == (
        f"hybrid: {entry.description}\n\n{entry.composition}\n"
    )
    shown = json.loads(command("strategies", "hybrid", "--json").out)
    assert shown == {"composition": entry.composition}


def test_targets_shows_the_constants(command: Command) -> None:
    values = json.loads(command("targets", "--json").out)
    assert list(values) == list(TARGETS)
    assert values["tpu-v4i"]["spaces"][0]["capacity"] == 128 * 2**20
    assert values["tpu-v4i"]["spaces"][1]["read_bandwidth"] == 4.91772e11
    assert "492 GB/s" in command("targets").out
