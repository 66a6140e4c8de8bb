"""The command line as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hybridalloc.cli import main


def run(
    *arguments: str | Path, cwd: Path, root: Path
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m hybridalloc`` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "hybridalloc", *map(str, arguments)],
        capture_output=True,
        check=False,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


def test_exit_code_and_output_reach_the_shell(
    root: Path, bundled: Path, tmp_path: Path
) -> None:
    ran = run("solve", bundled / "lstm_lm_b64_s128", "--json", cwd=tmp_path, root=root)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["valid"] is True
    ran = run("solve", "none", cwd=tmp_path, root=root)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1


def test_a_closed_pipe_is_no_error(root: Path, tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as closed:
        ran = subprocess.run(
            [sys.executable, "-m", "hybridalloc", "targets"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_without_arguments_it_shows_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    for name in ("solve", "compare", "check", "info", "convert", "targets"):
        assert name in shown


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hybridalloc ")


def test_a_warning_about_the_input_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "odd.hlo"
    path.write_text(
        "HloModule odd, is_scheduled=true\n\n"
        "ENTRY main {\n"
        "  x = f32[16]{0} parameter(0)\n"
        "  ROOT y = f32[16]{0} frobnicate(x)\n"
        "}\n"
    )
    assert main(["info", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["instructions"] == 2
    assert err.startswith("warning: ")
    assert "frobnicate" in err
    assert err.count("\n") == 1
