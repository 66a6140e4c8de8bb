"""Bad input and usage: exit code 2, one clear line, nothing written."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Command, Ran

WORKLOAD = "lstm_lm_b64_s128"


def assert_refused(ran: Ran, *words: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert ran.err.endswith("\n")
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err


@pytest.fixture
def folder(bundled: Path, tmp_path: Path) -> Path:
    """A copy of a workload, to be spoiled."""
    return Path(shutil.copytree(bundled / WORKLOAD, tmp_path / WORKLOAD))


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    changed = change(text)
    assert changed != text
    path.write_bytes(gzip.compress(changed.encode()))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.hlo", b"", ["empty.hlo"]),
        ("empty.hlo.gz", b"", ["empty.hlo.gz"]),
        ("empty.json", b"", ["empty.json"]),
        ("binary.hlo", bytes(range(256)) * 64, ["binary.hlo:"]),
        ("zeros.hlo", b"\0" * 4096, ["zeros.hlo"]),
        ("prose.txt", b"To be, or not to be.\n", ["prose.txt"]),
        ("cut.json", b'{"format": "hybridalloc/problem", "vers', ["cut.json:1"]),
        ("other.json", b'{"format": "other", "version": 1}', ["hybridalloc/problem"]),
        ("list.json", b"[1, 2]", ["list.json"]),
        ("no_gzip.hlo.gz", b"HloModule m", ["gzip"]),
    ],
)
def test_a_file_that_holds_no_program_is_refused(
    command: Command, tmp_path: Path, name: str, content: bytes, words: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for arguments in (
        ("solve", path, "--out", tmp_path / "map.json"),
        ("info", path),
        ("compare", path),
        ("convert", path, "--out", tmp_path / "problem.json"),
        ("check", path, tmp_path / "map.json"),
    ):
        assert_refused(command(*arguments), *words)
    assert [found.name for found in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("file", ["before_msa.hlo.gz", "allocinfo.csv.gz"])
def test_a_truncated_gzip_file_is_refused(
    command: Command, folder: Path, file: str
) -> None:
    data = (folder / file).read_bytes()
    (folder / file).write_bytes(data[: len(data) // 2])
    assert_refused(command("solve", folder), str(folder / file), "gzip")


@pytest.mark.parametrize(
    ("file", "column"),
    [
        ("bufferinfo.csv.gz", "size"),
        ("allocinfo.csv.gz", "offset"),
        ("scheduleinfo.csv.gz", "instruction_name"),
        ("cycles.csv.gz", "cycles_hbm"),
    ],
)
def test_a_missing_column_is_named_with_the_file(
    command: Command, folder: Path, file: str, column: str
) -> None:
    rewrite(folder / file, lambda text: text.replace(column, "nonsense", 1))
    assert_refused(command("solve", folder), f"{file}:1", f"{column} missing")


@pytest.mark.parametrize("size", ["-4", "99999999999999999999999", "4.5", "", "many"])
@pytest.mark.parametrize("file", ["bufferinfo.csv.gz", "allocinfo.csv.gz"])
def test_a_negative_or_absurd_size_is_named_with_its_line(
    command: Command, folder: Path, file: str, size: str
) -> None:
    def spoil(text: str) -> str:
        lines = text.splitlines()
        column = lines[0].split(",").index("size")
        row = lines[1].split(",")
        row[column] = size
        return "\n".join([lines[0], ",".join(row), *lines[2:]]) + "\n"

    rewrite(folder / file, spoil)
    assert_refused(command("solve", folder), f"{file}:2", "size")


MODULE = """HloModule tiny, is_scheduled=true

ENTRY main {{
  x = f32[{size}]{{0}} parameter(0)
  y = f32[{size}]{{0}} copy({operand})
  ROOT z = f32[{size}]{{0}} add(x, y)
}}
"""


@pytest.mark.parametrize(
    ("size", "operand", "words"),
    [
        ("16", "missing", ["missing"]),
        ("16", "z", ["z"]),
        ("16", "y", ["y"]),
        ("16", "", ["operands"]),
        ("99999999999999999999", "x", ["9999999"]),
        ("-16", "x", ["-16"]),
    ],
)
def test_an_impossible_module_is_refused(
    command: Command, tmp_path: Path, size: str, operand: str, words: list[str]
) -> None:
    path = tmp_path / "tiny.hlo"
    path.write_text(MODULE.format(size=16, operand="x"))
    assert command("info", path).code == 0
    path.write_text(MODULE.format(size=size, operand=operand))
    assert_refused(command("solve", path), "tiny.hlo", *words)


@pytest.mark.parametrize(
    "size", ["0", "-5", "1e6", "16MB/s", "lots", "", "16 XiB", "9" * 20, "0.5", "nan"]
)
def test_a_wrong_capacity_is_refused(
    command: Command, bundled: Path, size: str
) -> None:
    for name in ("solve", "compare", "info"):
        ran = command(name, bundled / WORKLOAD, f"--capacity={size}")
        assert_refused(ran, repr(size), "expected")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--strategy", "gredy"], ["unknown strategy 'gredy'", "'greedy'"]),
        (["--strategy", "xxx"], ["unknown strategy 'xxx'", "known: slow"]),
        (["--target", "tpu-v4j"], ["unknown target 'tpu-v4j'", "'tpu-v4'"]),
        (["--target", "tpu-v5e"], ["tpu-v5e", "--capacity"]),
        (["--target", "missing.toml"], ["missing.toml"]),
        (["--cost-model", "wall"], ["--cost-model", "roofline", "cycles"]),
        (["--time-limit", "-1"], ["--time-limit"]),
        (["--time-limit", "nan"], ["--time-limit"]),
        (["--iterations", "-1"], ["--iterations"]),
        (["--workers", "0"], ["--workers"]),
        (["--seed", "x"], ["--seed", "integer"]),
        (["--sed", "1"], ["--sed"]),
        (["--out", "missing/map.json"], ["missing/map.json", "folder"]),
        (["--out", "."], ["expected the name of a file"]),
        (["--warm-start", "missing.json"], ["missing.json"]),
        (["another"], ["another"]),
    ],
)
def test_wrong_usage_of_solve_is_refused(
    command: Command, bundled: Path, arguments: list[str], words: list[str]
) -> None:
    assert_refused(command("solve", bundled / WORKLOAD, *arguments), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solv"], ["solv", "solve"]),
        (["--nonsense"], ["--nonsense"]),
        (["solve"], ["INPUT"]),
        (["compare"], ["INPUT"]),
        (["convert", "x.hlo"], ["--out"]),
        (["convert", "x.hlo", "--out", "x.txt"], ["x.txt", ".json.gz"]),
        (["solve", "x.hlo", "--strategy", "slow>"], ["character 6", "expected the na"]),
        (["solve", "x.hlo", "--strategy", "slow(x=1)"], ["'slow' has no options"]),
        (["compare", "x.hlo", "--strategies", "slow,best(slow"], ["character 15"]),
        (["strategies", "greddy"], ["'greddy'; did you mean 'greedy'"]),
        (["strategies", "greedy", "slow"], ["slow"]),
    ],
)
def test_wrong_usage_is_refused(
    command: Command, arguments: list[str], words: list[str]
) -> None:
    assert_refused(command(*arguments), *words)


def test_a_path_that_cannot_be_read_is_named(command: Command, tmp_path: Path) -> None:
    assert_refused(command("solve", tmp_path / "none"), str(tmp_path / "none"))
    assert_refused(command("info", "nul\0byte"), "nul")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert_refused(command("info", tmp_path / "loop"), str(tmp_path / "loop"))


def test_a_name_that_spans_lines_is_still_told_in_one(
    command: Command, tmp_path: Path
) -> None:
    assert_refused(command("solve", tmp_path / "two\nlines\x1b[31m"), "two lines")


def test_a_name_that_is_too_long_is_refused(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    good, long = bundled / WORKLOAD, "a" * 5000
    for arguments in (
        ("info", long),
        ("check", good, long),
        ("solve", good, "--out", long),
        ("convert", good, "--out", f"{long}.json"),
        ("solve", good, "--target", f"{long}.toml"),
        ("solve", good, "--warm-start", long),
    ):
        assert_refused(command(*arguments), long, "File name too long")


def test_a_comparison_to_which_no_strategy_applies_is_refused(
    command: Command, bundled: Path
) -> None:
    path = bundled / WORKLOAD / "before_msa.hlo.gz"
    ran = command("compare", path, path, "--strategies", "replay", "--json")
    assert_refused(ran, str(path), "strategy replay", "compiler's answer")


def test_an_error_stands_alone_although_the_input_was_warned_about(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "odd.hlo"
    path.write_text(MODULE.format(size=16, operand="x").replace("add(", "odd("))
    assert command("info", path).err.startswith("warning: ")
    assert_refused(command("check", path, "input"), "does not carry")


def test_times_that_are_not_finite_are_refused(
    command: Command, tmp_path: Path
) -> None:
    problem = tmp_path / "problem.json"
    path = tmp_path / "tiny.hlo"
    path.write_text(MODULE.format(size=16, operand="x"))
    assert command("convert", path, "--out", problem).code == 0
    text = problem.read_text()
    spoiled = re.sub(r'"read_bandwidth": [^,}]+', '"read_bandwidth": 5e-324', text)
    problem.write_text(spoiled)  # 64 bytes / 5e-324 bytes a second
    for name in ("solve", "compare"):
        assert_refused(command(name, problem), "its time is not finite under target")


def test_a_folder_without_a_program_is_refused(
    command: Command, tmp_path: Path
) -> None:
    assert_refused(command("solve", tmp_path), str(tmp_path), "before_msa.hlo")


def test_the_cycles_model_is_refused_where_there_are_no_estimates(
    command: Command, folder: Path
) -> None:
    (folder / "cycles.csv.gz").unlink()
    ran = command("solve", folder, "--cost-model", "cycles")
    assert_refused(ran, str(folder), "cycles.csv")


def test_a_map_of_another_program_is_refused(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    quick = ("--strategy", "replay", "--bound-time", "0")
    solved = command("solve", bundled / "mixer_block_b128", *quick, "--out", other)
    assert solved.code == 0
    assert_refused(command("check", bundled / WORKLOAD, other), "mixer_block_b128")
    ran = command("solve", bundled / WORKLOAD, "--warm-start", other)
    assert_refused(ran, "mixer_block_b128", WORKLOAD)


def test_the_compilers_map_is_refused_as_warm_start_where_there_is_none(
    command: Command, bundled: Path
) -> None:
    path = bundled / WORKLOAD / "before_msa.hlo.gz"
    for arguments in (
        ("solve", path, "--warm-start", "input"),
        ("check", path, "input"),
    ):
        assert_refused(command(*arguments), "does not carry")


def test_an_unreadable_input_ends_a_comparison_before_it_starts(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    ran = command("compare", bundled / WORKLOAD, tmp_path / "none")
    assert_refused(ran, str(tmp_path / "none"))


def test_wrong_fields_of_a_problem_file_are_named_with_their_line(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    path = tmp_path / "problem.json"
    assert command("convert", bundled / WORKLOAD, "--out", path).code == 0
    text = path.read_text()
    for pattern, spoiled in (
        (r'"size": \d+', '"size": -1'),
        (r'"trip_count": \d+', '"trip_count": 0.5'),
        (r'"version": 1', '"version": 999'),
        (r'"buffer": "[^"]*"', '"buffer": "missing"'),
    ):
        path.write_text(re.sub(pattern, spoiled, text, count=1))
        assert_refused(command("solve", path), "problem.json")
