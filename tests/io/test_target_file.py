"""Targets by name, and what a target file says or fails to say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from hybridalloc import InputError, Target, UsageError, get_target
from hybridalloc.io.json_format import records
from hybridalloc.target import TARGETS, CopyEngine, MemorySpace

PAGE = Path(__file__).parents[2] / "docs" / "format.md"
(EXAMPLE,) = re.findall(
    r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)
DEEP = 100_000
"""How far no parser follows brackets."""


def read(tmp_path: Path, text: str) -> Target:
    """The target that a file with this text describes."""
    path = tmp_path / "machine.toml"
    path.write_text(text, encoding="utf-8")
    return get_target(str(path))


def refusal(tmp_path: Path, text: str) -> str:
    """What is wrong with a file with this text, after the file's name."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    start, _, message = str(caught.value).partition("machine.toml:")
    assert start == f"{tmp_path}/"
    assert "\n" not in message
    return message.strip()


def test_the_documented_target_reads_as_the_page_says(tmp_path: Path) -> None:
    fast = MemorySpace("fast", 8e9, 8e9, 4096, 512, reserved=((3584, 4096),))
    assert read(tmp_path, EXAMPLE) == Target(
        name="toy",
        spaces=(fast, MemorySpace("slow", 1e9, 1e9)),
        flops_per_second=1e12,
        clock_hz=1e9,
        copy_engine=CopyEngine(2, 40, startup_s=1e-7, max_slices=4),
    )


def test_the_documented_target_has_every_field() -> None:
    table = tomllib.loads(EXAMPLE)
    assert table.keys() == records.TargetRecord.model_fields.keys()
    assert table["spaces"][0].keys() == records.SpaceRecord.model_fields.keys()
    assert table["copy_engine"].keys() == records.CopyEngineRecord.model_fields.keys()


def test_what_has_a_default_may_be_left_out(tmp_path: Path) -> None:
    text = """name = "t"
        flops_per_second = 1
        clock_hz = 1
        spaces = [{name = "f", read_bandwidth = 2, write_bandwidth = 2},
                  {name = "s", read_bandwidth = 1, write_bandwidth = 1}]"""
    spaces = MemorySpace("f", 2.0, 2.0), MemorySpace("s", 1.0, 1.0)
    assert read(tmp_path, text) == Target("t", spaces, 1.0, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clock_hz = 1e9\n", "", "clock_hz: this field is missing"),
        ("clock_hz", "clock", "clock_hz: this field is missing"),
        ("[copy_engine]", "[engine]", "engine: unknown field"),
        ("startup_s", "startup", "copy_engine.startup: unknown field"),
        (
            "4096\n",
            "64.5\n",
            "spaces[0].capacity: expected a valid integer, found 64.5",
        ),
        ("4096\n", '"4"\n', 'spaces[0].capacity: expected a valid integer, found "4"'),
        ("1e12", "inf", "flops_per_second: expected a finite number"),
        ("1e12", "2020-01-01", "flops_per_second: expected a valid number"),
        ("1e12", "-1", "flops_per_second: expected greater than 0, found -1"),
        ("[3584, 4096]", "[9, 5]", "spaces[0]: memory space fast: reserved range [9,"),
        ("[3584, 4096]", "7", "spaces[0].reserved[0]: expected a valid array, found 7"),
        ("[copy_engine]", "[[spaces]]", "spaces[2].name: this field is missing"),
        ('"toy"', "toy", "1: Invalid value (column 8)"),
        ('"toy"', '"toy', "1: "),
        ("[[spaces]]", "[[spaces", "6: "),
        ('"toy"', f"{'[' * DEEP}", "expected a target, this nests too deeply"),
        ('"toy"', "1" * 5000, "expected TOML: "),
    ],
)
def test_a_fault_is_told_in_one_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in EXAMPLE
    assert refusal(tmp_path, EXAMPLE.replace(old, new, 1)).startswith(message)


def test_a_target_has_two_memories(tmp_path: Path) -> None:
    text = EXAMPLE.partition("[[spaces]]")[0] + "spaces = []"
    assert refusal(tmp_path, text) == (
        "target toy: expected two memory spaces, fast and slow, got 0"
    )


def test_spaces_are_an_array(tmp_path: Path) -> None:
    text = EXAMPLE.partition("[[spaces]]")[0] + "spaces = 1"
    assert refusal(tmp_path, text).startswith("spaces: expected a valid array, found 1")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(InputError, match="1: expected UTF-8 text"):
        get_target(str(path))


def test_a_file_that_is_missing_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.toml: cannot read this file"):
        get_target(str(tmp_path / "missing.toml"))


@pytest.mark.parametrize("name", TARGETS)
def test_a_built_in_target_is_called_by_name(name: str) -> None:
    assert get_target(name) is TARGETS[name]


@pytest.mark.parametrize(
    ("name", "hint"), [("tpu-v4j", "did you mean 'tpu-v4'"), ("x", "known: tpu-v4i")]
)
def test_an_unknown_name_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"unknown target '{name}'; {hint}"):
        get_target(name)
