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
from hybridalloc.tuning.claim import claimed
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


def given(program: str, folder: Path) -> tuple[object, ...]:
    """The command that tunes it."""
    what = ("tune", f"{program}:double", "--args", "f32[1024]", "--out", folder)
    return (*what, "--solve-time", "1", "--strategy", "greedy")


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


def test_without_time_only_what_is_there_is_taken_up(
    jax: Path, program: str, work: Path
) -> None:
    new = tuner(program, work / "new")
    new.deadline = time.monotonic()
    new.run()
    assert [x.name for x in new.trials] == ["default"]
    plant(work / "old", program)
    tuner(program, work / "old").run()
    again = tuner(program, work / "old")
    again.deadline = time.monotonic()
    again.run()
    assert [x.name for x in again.trials] == ["default", "round-1a"]


def test_what_is_planned_as_ctrl_c_comes_is_compiled_the_next_time(
    jax: Path, program: str, work: Path
) -> None:
    plant(work / "tuning", program)
    ended = tuner(program, work / "tuning")
    ended.is_over = lambda: True
    ended.run()
    assert [x.name for x in ended.trials] == ["default"]
    again = tuner(program, work / "tuning")
    again.run()
    assert [x.name for x in again.trials] == ["default", "round-1a"]


def test_planning_does_not_count_as_compiling(
    jax: Path, program: str, work: Path
) -> None:
    plant(work / "tuning", program)
    slept_s = 0.0

    def say(text: str) -> None:
        nonlocal slept_s
        if "planning" in text:
            slept_s += 0.2
            time.sleep(0.2)

    found, begun = tuner(program, work / "tuning"), time.monotonic()
    found.say = say
    found.run()
    assert slept_s > 0
    compiling_s = sum(x.compile_s for x in found.trials)
    assert compiling_s < time.monotonic() - begun - slept_s


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


def test_a_capacity_below_the_compilers_own_answer_is_one_line(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    ran = command(*given(program, work / "out"), "--capacity", "2KiB")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "the compiler's own answer is not valid" in ran.err
    assert "above the capacity of 2048" in ran.err


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
