"""The command ``capture``; the compiler itself is tested with the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Command

from hybridalloc.cli.capturing import compiler_options
from hybridalloc.errors import UsageError


def test_a_wrong_program_or_argument_is_one_line(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "f.py"
    file.touch()
    for given, spec, message in (
        ("f", "f32[2]", "error: 'f': expected FILE.py:function\n"),
        (f"{tmp_path}/none.py:f", "f32[2]", "there is no file"),
        (f"{file}:f", "f32[2", "expected shapes such as"),
    ):
        ran = command("capture", given, "--args", spec, "--out", tmp_path / "out")
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err
        assert ran.err.count("\n") == 1


def test_an_unknown_target_is_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "f.py").touch()
    given = ("capture", f"{tmp_path}/f.py:f", "--args", "f32[2]", "--target", "tpu-v9")
    ran = command(*given, "--out", tmp_path / "out")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_options_are_names_and_values() -> None:
    given = ["xla_a=1", "--xla_b=x{y=2}"]
    assert compiler_options(given) == {"xla_a": "1", "xla_b": "x{y=2}"}
    with pytest.raises(UsageError, match="expected NAME=VALUE"):
        compiler_options(["xla_a"])
