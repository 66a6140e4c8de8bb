"""Tuning, with a stand-in for the compiler that makes one thing of every plan."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from commands import Command

from hybridalloc import CompilerError, UsageError
from hybridalloc.compiler.source import in_file
from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import read_problem
from hybridalloc.io.target_file import get_target
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel
from hybridalloc.program import Observation
from hybridalloc.tuning.disagreement import savings_by_kind
from hybridalloc.tuning.observing import observe
from hybridalloc.tuning.tuner import TuneConfig, Tuner


def tuner(program: str, folder: Path, rounds: int = 2) -> Tuner:
    return Tuner(
        in_file(f"{program}:double", "f32[1024]"),
        get_target("tpu-v4i"),
        folder,
        TuneConfig("greedy", solve_s=1, plans=2, rounds=rounds),
        time.monotonic() + 100,
        lambda _: None,
    )


def plant(folder: Path, program: str) -> None:
    """Have an earlier run end with a plan that is not compiled yet: nothing is fast."""
    first = tuner(program, folder, rounds=1)
    first.run()
    write_map(MemoryMap(), first.problem, folder / "round-1a.map.json")


def test_it_is_never_worse_than_the_compilers_default(
    jax: Path, program: str, work: Path
) -> None:
    plant(work / "tuning", program)
    found = tuner(program, work / "tuning")
    found.run()
    default, other = found.trials
    assert (default.name, other.name) == ("default", "round-1a")
    assert found.best.time_s <= default.time_s
    assert found.best is default
    assert found.settings() is None


def test_what_instructions_cost_is_learned(jax: Path, program: str, work: Path) -> None:
    found = tuner(program, work / "tuning", rounds=1)
    found.run()
    [doubled] = [x for x in found.problem.program.instructions if x.name == "doubled"]
    assert [x.cycles for x in doubled.observations] == [150, 100]


def test_measured_times_take_the_place_of_estimates(
    jax: Path, program: str, work: Path
) -> None:
    plant(work / "tuning", program)
    first = tuner(program, work / "tuning")
    first.run()
    plan = first.trials[1].name
    table = "instruction_name,seconds\ndoubled,1e-12\nnegated,1e-12\n"
    (work / "tuning" / f"{plan}-measured.csv").write_text(table)
    again = tuner(program, work / "tuning")
    again.run()
    assert again.best.name in {x.name for x in again.trials[1:]}
    assert again.best.time_s < first.best.time_s
    assert again.settings() is not None


def test_it_goes_on_from_what_is_there(jax: Path, program: str, work: Path) -> None:
    first = tuner(program, work / "tuning", rounds=1)
    first.run()
    (jax / "jax" / "__init__.py").write_text("raise SystemExit('compiled again')")
    again = tuner(program, work / "tuning", rounds=1)
    again.run()
    names = [[x.name for x in each.trials] for each in (first, again)]
    assert names[0] == names[1]
    assert again.best.time_s == first.best.time_s


def test_a_compile_that_fails_leaves_what_was_found(
    jax: Path, program: str, work: Path
) -> None:
    (jax / "jax" / "__init__.py").write_text("raise RuntimeError('no more')")
    with pytest.raises(CompilerError):
        tuner(program, work / "tuning").run()
    assert not (work / "tuning" / "program").exists()


def test_the_folder_of_another_program_is_refused(
    jax: Path, program: str, work: Path
) -> None:
    tuner(program, work / "tuning", rounds=1).run()
    Path(program).write_text(Path(program).read_text() + "\n# changed\n")
    with pytest.raises(UsageError, match="of another one"):
        tuner(program, work / "tuning").run()


def test_the_command_writes_a_report_and_takes_measured_times(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    given = ("tune", f"{program}:double", "--args", "f32[1024]", "--out", work / "out")
    limits = ("--time-limit", "50", "--solve-time", "1", "--strategy", "greedy")
    plant(work / "out", program)
    ran = command(*given, *limits)
    assert (ran.code, ran.err) == (0, "")
    assert "deploy its defaults" in ran.out
    assert not (work / "out" / "options.json").exists()
    times = work / "times.csv"
    times.write_text("instruction_name,seconds\ndoubled,1e-12\nnegated,1e-12\n")
    again = command(*given, *limits, "--measured", f"round-1a={times}", "--json")
    found = json.loads(again.out)
    assert found == json.loads((work / "out" / "report.json").read_text())
    assert found["best"] == "round-1a"
    assert found["gain"] > 1
    assert (work / "out" / "options.json").exists()
    assert "| round-1a |" in (work / "out" / "report.md").read_text()


def test_wrong_measured_times_are_one_line(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    given = ("tune", f"{program}:double", "--args", "f32[1024]", "--out", work / "out")
    wrong = work / "wrong.csv"
    wrong.write_text("instruction_name,seconds\ndoubled,soon\n")
    for measured, message in (
        ("times.csv", "expected PLAN=FILE.csv"),
        (f"default={work}/none.csv", "cannot read this file"),
        (f"default={wrong}", "seconds: expected seconds, got 'soon'"),
    ):
        ran = command(*given, "--measured", measured, "--solve-time", "1")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert message in ran.err


def test_an_observation_at_a_known_placement_replaces_it(bundled: Path) -> None:
    problem = read_problem(bundled / "mixer_block_b128", cost_model=CostModel.CYCLES)
    t, instruction = next(
        (t, x) for t, x in enumerate(problem.program.instructions) if x.observations
    )
    once = observe(problem, MemoryMap(), {instruction.name: 7.0})
    twice = observe(once, MemoryMap(), {instruction.name: 5.0})
    seen = twice.program.instructions[t].observations
    assert [x for x in seen if not x.fast] == [Observation((), 5.0)]
    assert once.program.instructions[t + 1] == problem.program.instructions[t + 1]


def test_savings_are_told_by_kind(bundled: Path) -> None:
    problem = read_problem(bundled / "mixer_block_b128", cost_model=CostModel.CYCLES)
    assert problem.compiler_map is not None
    rows = savings_by_kind(problem, [problem.compiler_map])
    assert sum(x.instructions for x in rows) > 10
    sizes = [abs(x.roofline_s) for x in rows]
    assert sizes == sorted(sizes, reverse=True)
