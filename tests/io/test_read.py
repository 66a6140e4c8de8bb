"""One function reads whatever holds a problem."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hlo_texts import hlo_text

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io import json_format
from hybridalloc.io.read import read_input, read_problem
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Instruction, Observation, Program
from hybridalloc.target import TARGETS

TEXT = hlo_text("x = f32[256] parameter(0)\ny = f32[256] negate(x)")
V4, V5E = TARGETS["tpu-v4"], TARGETS["tpu-v5e"]


@pytest.fixture
def hlo(tmp_path: Path) -> Path:
    path = tmp_path / "module.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def small_problem() -> Problem:
    """A problem for another target than the default, judged by cycles."""
    step = Instruction("step", observations=(Observation((), 9),))
    return Problem(Program("p", (step,), ()), V4, CostModel.CYCLES)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "problem.json"
    json_format.write_problem(small_problem(), path)
    return path


def test_a_module_alone_is_for_tpu_v4i_and_the_roofline(hlo: Path) -> None:
    problem = read_problem(str(hlo))
    assert problem.target == TARGETS["tpu-v4i"]
    assert problem.cost_model is CostModel.ROOFLINE
    assert [i.name for i in problem.program.instructions] == ["x", "y"]


def test_a_module_may_be_compressed(hlo: Path) -> None:
    packed = hlo.with_name("module.gz")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert read_problem(packed).program == read_problem(hlo).program


def test_a_folder_brings_its_dump_and_the_compilers_answer(bundled: Path) -> None:
    found = read_input(bundled / "mixer_block_b128")
    assert found.dump is not None
    assert found.problem.compiler_map is not None
    assert found.problem.compiler_map == found.dump.compiler_map
    assert found.problem.program.name == "mixer_block_b128"


def test_a_problem_file_is_read_as_it_was_written(saved: Path) -> None:
    found = read_input(saved)
    assert found.problem == small_problem()
    assert found.dump is None


def test_a_file_is_read_from_disk_once(
    hlo: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Path] = []
    read_bytes = Path.read_bytes

    def counted(self: Path) -> bytes:
        seen.append(self)
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", counted)
    read_problem(hlo)
    read_problem(saved)
    assert seen == [hlo, saved]


def test_target_cost_model_and_capacity_may_be_chosen(hlo: Path, saved: Path) -> None:
    assert read_problem(hlo, target="tpu-v4").target == V4
    assert read_problem(hlo, target=V4, capacity=4096).target.capacity == 4096
    problem = read_problem(saved, capacity=4096, cost_model="roofline")
    assert problem == replace(
        small_problem(), target=V4.with_capacity(4096), cost_model=CostModel.ROOFLINE
    )
    assert read_problem(saved, target="tpu-v4i").target.name == "tpu-v4i"
    sliced = read_problem(saved, max_slices=2).target
    engine = replace(small_problem().target.copy_engine, max_slices=2)
    assert sliced == replace(small_problem().target, copy_engine=engine)


def test_a_target_without_a_capacity_needs_one(hlo: Path) -> None:
    with pytest.raises(UsageError, match="capacity of its fast memory is not known"):
        read_problem(hlo, target=V5E)
    assert read_problem(hlo, target=V5E, capacity=4096).target.capacity == 4096


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"target": "tpu-v4j"}, "unknown target 'tpu-v4j'"),
        (
            {"cost_model": "guess"},
            "unknown cost model 'guess'; known: roofline, cycles",
        ),
        ({"capacity": -1}, "capacity -1 is not in"),
        ({"max_slices": 0}, "max_slices 0 is not >= 1"),
        ({"max_slices": True}, "max_slices True: expected a whole number"),
    ],
)
def test_a_wish_that_cannot_be_met_is_a_usage_error(
    hlo: Path, options: dict[str, str], expected: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read_problem(hlo, **options)  # type: ignore[arg-type] # wrong on purpose
    assert expected in str(caught.value)


def test_cycles_without_estimates_are_bad_input(hlo: Path) -> None:
    with pytest.raises(InputError, match="needs the compiler's estimates"):
        read_problem(hlo, cost_model="cycles")


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("{", 1, ""),
        ("", 1, "expected a line that starts with 'HloModule'"),
        ("id,lower,upper,size\n", 1, "expected a line that starts with 'HloModule'"),
        (TEXT.replace("(x)", "(z)"), 7, "operand 'z' is not defined"),
    ],
)
def test_what_is_no_problem_is_an_error_with_file_and_line(
    hlo: Path, text: str, line: int, expected: str
) -> None:
    hlo.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_problem(hlo)
    assert expected in caught.value.message
    assert (caught.value.path, caught.value.line) == (hlo, line)


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_problem(tmp_path / "nothing")
    with pytest.raises(InputError, match="expected a file before_msa"):
        read_problem(tmp_path)
