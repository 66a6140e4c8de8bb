"""Tuning, with a stand-in for the compiler that makes one thing of every plan."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tuning_cases import plant, tuner

from hybridalloc import CompilerError, UsageError
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel
from hybridalloc.program import Observation
from hybridalloc.tuning.disagreement import savings_by_kind
from hybridalloc.tuning.observing import observe


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


def test_more_plans_of_an_earlier_run_are_taken_up_too(
    jax: Path, program: str, work: Path
) -> None:
    plant(work / "tuning", program)
    folder = work / "tuning"
    (folder / "round-1a.map.json").rename(folder / "round-1c.map.json")
    wide = tuner(program, folder)
    wide.config = replace(wide.config, plans=3)
    wide.run()
    assert wide.trials[-1].name == "round-1c"
    narrow = tuner(program, folder)
    narrow.run()
    assert narrow.trials[-1].name == "round-1c"


def test_the_folder_of_another_program_is_refused(
    jax: Path, program: str, work: Path
) -> None:
    tuner(program, work / "tuning", rounds=1).run()
    Path(program).write_text(Path(program).read_text() + "\n# changed\n")
    with pytest.raises(UsageError, match="of another one"):
        tuner(program, work / "tuning").run()


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
