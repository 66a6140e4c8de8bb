"""Capturing programs, with a stand-in for jax and, where it is installed, with jax."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path

import pytest
from commands import Command
from stand_in_jax import GOES_WRONG

import hybridalloc
from hybridalloc import CompilerError, InputError, UsageError, capture
from hybridalloc.compiler.capture import capture_source
from hybridalloc.compiler.source import in_file
from hybridalloc.io.read import read_input, read_problem
from hybridalloc.io.xla.fidelity import reads_despite_copy


def double(x: object) -> object:
    """A function to capture."""
    return x


def test_it_captures_a_function_and_says_where(jax: Path, work: Path) -> None:
    assert capture(double, 3.0, out=work / "out") == work / "out"
    record = json.loads((work / "out" / "capture.json").read_text())
    assert (record["program"], record["target"]) == ("double", "tpu-v4i")
    assert [path.name for path in work.iterdir() if path.is_dir()] == ["out"]


def test_cycles_tell_both_placements(jax: Path, program: str, work: Path) -> None:
    source = in_file(f"{program}:double", "f32[1024]")
    folder = capture_source(source, "tpu-v4i", work / "out", cycles=True, options={})
    assert not (folder / "estimates.csv.gz").exists()
    text = gzip.decompress((folder / "cycles.csv.gz").read_bytes()).decode()
    assert text.splitlines() == [
        "instruction_name,cycles_msa,cycles_hbm,fast_operands,fast_outputs",
        "doubled,100,150,,0",
        "negated,100,150,0,",
    ]
    doubled = read_problem(folder).program.instructions[1]
    assert [seen.cycles for seen in doubled.observations] == [150, 100]


def test_a_failed_capture_leaves_an_older_one_alone(
    jax: Path, program: str, work: Path
) -> None:
    source = in_file(f"{program}:double", "arguments")
    out = work / "out"
    capture_source(source, "tpu-v4i", out, cycles=False, options={})
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for cycles in (False, True):
        with pytest.raises(CompilerError):
            capture_source(
                source, "tpu-v4", out, cycles=cycles, options={GOES_WRONG: "abort"}
            )
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_fast_memory_is_told_apart_where_nothing_is_copied(
    jax: Path, program: str, work: Path
) -> None:
    source = in_file(f"{program}:double", "f32[1024]")
    folder = capture_source(source, "tpu-v4i", work / "out", cycles=False, options={})
    found = read_input(folder)
    assert found.dump is not None
    assert found.dump.after is not None
    assert found.problem.compiler_map is not None
    answer = found.problem.compiler_map
    assert reads_despite_copy(found.dump.after, answer) == (0, 0)


def test_a_workload_is_read_for_the_target_it_was_captured_for(
    jax: Path, work: Path
) -> None:
    folder = capture(double, 3.0, target="tpu-v4", out=work / "v4")
    assert read_problem(folder).target.name == "tpu-v4"
    assert read_problem(folder, target="tpu-v4i").target.name == "tpu-v4i"
    folder = capture(double, 3.0, target="tpu-v5e", out=work / "v5e")
    with pytest.raises(UsageError, match="give one with --capacity"):
        assert read_problem(folder).target.capacity
    assert read_problem(folder, capacity=2**27).target.name == "tpu-v5e"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"target": 4}', "[" * 100_000])
def test_a_capture_file_that_names_no_target_is_an_error(
    text: str, bundled: Path, tmp_path: Path
) -> None:
    (tmp_path / "capture.json").write_text(text)
    workload = bundled / "lstm_lm_b64_s128" / "before_msa.hlo.gz"
    (tmp_path / "before_msa.hlo.gz").symlink_to(workload)
    with pytest.raises(InputError, match=r"capture\.json: expected"):
        read_problem(tmp_path)


def test_what_cannot_be_pickled_is_one_line(work: Path) -> None:
    with pytest.raises(CompilerError, match="expected a function and arguments that"):
        capture(double, (part for part in "ab"), out=work / "out")
    assert "capture" in hybridalloc.__all__


def test_the_command_says_what_it_has_captured(
    jax: Path, program: str, work: Path, command: Command
) -> None:
    given = ("capture", f"{program}:double", "--args", "f32[1024]")
    ran = command(*given, "--out", work / "out", "--cycles")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"{work}/out: 3 instructions, 2 of them with cycle estimates, 3 buffers, "
        f"tpu-v4i\n"
    )
    ran = command(*given, "--out", work / "out", "--option", f"{GOES_WRONG}=refuse")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None, reason="jax[tpu] is not installed"
)
@pytest.mark.parametrize("target", ["tpu-v4i", "tpu-v4", "tpu-v5e"])
def test_the_compiler_itself_captures_the_examples(
    target: str, root: Path, work: Path
) -> None:
    file = root / "examples" / "programs" / "layers.py"
    source = in_file(f"{file}:perceptron", "perceptron_arguments")
    folder = capture_source(source, target, work / "out", cycles=False, options={})
    problem = read_problem(folder, capacity=2**26)
    assert problem.target.name == target
    assert problem.compiler_map is not None
    assert problem.compiler_map.allocations
