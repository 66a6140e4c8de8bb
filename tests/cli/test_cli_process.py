"""The command line as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.abc import MetaPathFinder
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
    given = ("solve", bundled / "lstm_lm_b64_s128", "--bound-time", "1", "--json")
    ran = run(*given, cwd=tmp_path, root=root)
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
    for name in ("solve", "compare", "bound", "verify", "check", "info", "targets"):
        assert name in shown


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("hybridalloc so", "solve"),
        ("hybridalloc solve x --warm", "--warm-start"),
        ("hybridalloc solve x --cost-model ro", "roofline"),
    ],
)
def test_bash_completes_what_is_typed(
    words: str,
    completed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_HYBRIDALLOC_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert main([]) == 0
    assert capsys.readouterr().out.split() == [completed]


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


def in_shell(
    line: str, *arguments: str | Path, root: Path
) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``h`` is hybridalloc and $1, $2... the arguments."""
    return subprocess.run(
        ["bash", "-c", f'h() {{ "$0" -m hybridalloc "$@"; }}; {line}', sys.executable]
        + [str(argument) for argument in arguments],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("h targets > /dev/full", "No space left on device"),
        ("h --help > /dev/full", "No space left on device"),
        ("h targets --json >&-", "it is closed"),
    ],
)
def test_stdout_that_takes_nothing_has_its_own_exit_code(
    root: Path, line: str, reason: str
) -> None:
    ran = in_shell(line, root=root)
    assert (ran.returncode, ran.stdout) == (74, "")
    assert ran.stderr == f"error: cannot write to stdout: {reason}\n"


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_errors_do_not_go_to_stdout_where_stderr_takes_none(
    root: Path, redirection: str
) -> None:
    ran = in_shell(f"h info none --json {redirection}", root=root)
    assert (ran.returncode, ran.stdout) == (2, "")


def test_help_whose_reader_has_gone_is_no_failure(root: Path) -> None:
    ran = in_shell("h solve --help | true; exit ${PIPESTATUS[0]}", root=root)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_program_may_come_from_a_pipe(root: Path, bundled: Path) -> None:
    path = bundled / "lstm_lm_b64_s128" / "before_msa.hlo.gz"
    whole = in_shell('h info "$1" --json', path, root=root)
    for line in (
        'h info <(zcat "$1") --json',
        'h info /dev/stdin --json < <(cat "$1")',
    ):
        piped = in_shell(line, path, root=root)
        assert (piped.returncode, piped.stderr) == (0, "")
        first, second = json.loads(piped.stdout), json.loads(whole.stdout)
        assert {**first, "input": ""} == {**second, "input": ""}


def test_ctrl_c_while_the_commands_are_loaded_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting(MetaPathFinder):
        def find_spec(self, name: str, *_: object) -> None:
            if name == "hybridalloc.cli.run":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "hybridalloc.cli.run", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert main(["targets"]) == 130
    out, err = capsys.readouterr()
    assert (out, err) == ("", "error: interrupted before there was an answer\n")
