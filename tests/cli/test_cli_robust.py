"""``solve`` and ``compare`` with ``--robust``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import bound_stand_ins
import pytest
from commands import Command
from named_problems import CHAIN, FASTEST, SLOW, TWO_MODELS, Y_ALONE

from hybridalloc import registry
from hybridalloc.io.json_format import read_map, write_map, write_problem
from hybridalloc.problem import Problem
from hybridalloc.registry import Entry
from hybridalloc.solver import Outcome, Run

ROBUST = ("--robust", "--strategy", "fastest", "--warm-start")


class Fastest:
    """Finds the map of 24 s under the roofline, and of 54 s by cycles."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(FASTEST)


@pytest.fixture(autouse=True)
def strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers it, and a bound that takes no time: 24 s."""
    entry = Entry(f"{__name__}:Fastest", "for tests")
    entries = {**registry.STRATEGIES, "fastest": entry}
    monkeypatch.setattr(registry, "STRATEGIES", entries)
    bound_stand_ins.user(monkeypatch)(24.0)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A program of 48 and 76 s in slow memory; the compiler's answer has 36 and 50."""
    path = tmp_path / "chain.json"
    write_problem(replace(TWO_MODELS, compiler_map=Y_ALONE), path)
    return path


@pytest.fixture
def slow_map(tmp_path: Path) -> Path:
    path = tmp_path / "slow.json"
    write_map(SLOW, TWO_MODELS, path)
    return path


def test_a_map_that_is_better_under_both_models_is_taken(
    command: Command, chain: Path, slow_map: Path, tmp_path: Path
) -> None:
    out = tmp_path / "map.json"
    ran = command("solve", chain, *ROBUST, slow_map, "--json", "--out", out)
    answer = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert answer["times_s"] == {"roofline": 24, "cycles": 54}
    assert answer["speedups_vs_start"] == {"roofline": 2, "cycles": 76 / 54}
    assert (answer["time_s"], answer["cost_model"]) == (24, "roofline")
    assert read_map(out, TWO_MODELS) == FASTEST


def test_a_map_that_is_worse_under_one_model_is_not(
    command: Command, chain: Path
) -> None:
    """24 s are less than the 36 s of the compiler's answer, but 54 are not below 50."""
    answer = json.loads(command("solve", chain, *ROBUST, "input", "--json").out)
    assert answer["times_s"] == {"roofline": 36, "cycles": 50}
    assert answer["speedups_vs_start"] == {"roofline": 1, "cycles": 1}
    plain = command("solve", chain, *ROBUST[1:], "input", "--json")
    assert json.loads(plain.out)["time_s"] == 24
    assert json.loads(plain.out)["times_s"] is None


def test_the_answer_is_not_called_optimal(
    command: Command, chain: Path, slow_map: Path
) -> None:
    """The bound of 24 s is met; it is one of the time, not of both."""
    answer = json.loads(command("solve", chain, *ROBUST, slow_map, "--json").out)
    assert (answer["status"], answer["bound_s"], answer["gap"]) == ("feasible", 24, 0)


def test_the_table_says_both_times(
    command: Command, chain: Path, slow_map: Path
) -> None:
    out = command("solve", chain, *ROBUST, slow_map).out
    assert "time under roofline  24 s, speed-up 2.000x over the warm start\n" in out
    assert "time under cycles    54 s, speed-up 1.407x over the warm start\n" in out


def test_compare_starts_from_each_inputs_own_answer(
    command: Command, chain: Path, slow_map: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    write_problem(replace(TWO_MODELS, compiler_map=SLOW), other)
    ran = command(
        *("compare", chain, other, "--robust", "--warm-start", "input"),
        *("--strategies", "fastest,slow", "--json"),
    )
    speedups = [row["speedups_vs_start"] for row in json.loads(ran.out)]
    same = {"roofline": 1, "cycles": 1}
    assert speedups == [same, same, {"roofline": 2, "cycles": 76 / 54}, same]
    robust = ("--robust", "--warm-start", "input")
    out = command("compare", other, "--strategies", "slow", *robust).out
    _, _, heads, *_ = out.splitlines()
    assert "roofline  cycles" in heads
    assert "vs XLA" not in heads


def test_compare_shows_the_geometric_means_under_both_models(
    command: Command, chain: Path, tmp_path: Path
) -> None:
    """Of 2 and 1: 1.414; of 76 / 54 = 1.407 and 1: 1.186."""
    other = tmp_path / "other.json"
    write_problem(replace(TWO_MODELS, compiler_map=SLOW), other)
    ran = command(
        *("compare", chain, other, "--robust", "--warm-start", "input"),
        *("--strategies", "fastest"),
    )
    assert "speed-ups under both are against the warm start" in ran.out
    mean = next(x for x in ran.out.splitlines() if x.startswith("geometric mean"))
    assert mean.split()[2:4] == ["1.414x", "1.186x"]


@pytest.mark.parametrize("name", ["solve", "compare"])
def test_robust_needs_a_map_to_start_from(
    command: Command, chain: Path, name: str
) -> None:
    ran = command(name, chain, "--robust")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: --robust: expected --warm-start MAP or")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("name", ["solve", "compare"])
def test_robust_needs_estimates_and_the_compilers_answer_where_asked_for(
    command: Command, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "plain.json"
    write_problem(replace(CHAIN, compiler_map=SLOW), path)
    ran = command(name, path, "--robust", "--warm-start", "input")
    assert (ran.code, ran.out) == (2, "")
    assert "robust: program named has no compiler's estimates" in ran.err
    assert ran.err.count("\n") == 1
    write_problem(TWO_MODELS, path)
    ran = command(name, path, "--robust", "--warm-start", "input")
    assert (ran.code, ran.out) == (2, "")
    assert "'input' stands for the compiler's own answer" in ran.err
