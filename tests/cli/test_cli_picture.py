"""``show``."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Command

WORKLOAD = "lstm_lm_b64_s128"


@pytest.fixture
def workload(bundled: Path) -> Path:
    return bundled / WORKLOAD


def test_show_draws_the_compilers_own_answer(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    out = tmp_path / "map.png"
    ran = command("show", workload, "input", "--out", out)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"picture written to {out}\n"
    assert out.read_bytes().startswith(b"\x89PNG")


def test_show_draws_a_map_file_over_time_with_a_buffer_brought_out(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    found, out = tmp_path / "map.json", tmp_path / "map.svg"
    quick = ("--strategy", "greedy", "--bound-time", "0")
    command("solve", workload, *quick, "--out", found)
    options = ("--x", "time", "--buffer", "#3", "--cost-model", "roofline")
    ran = command("show", workload, found, "--out", out, *options)
    assert (ran.code, ran.err) == (0, "")
    assert b"</svg>" in out.read_bytes()


def test_show_draws_a_map_that_is_not_valid(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    out = tmp_path / "map.pdf"
    ran = command("show", workload, "input", "--out", out, "--capacity", "1MiB")
    assert (ran.code, ran.err) == (0, "")
    assert out.exists()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("map.jpg", (), "map.jpg: expected a name that ends in .html, .png, .svg or"),
        ("missing/map.png", (), "expected an existing folder"),
        ("map.png", ("--x", "space"), "'space': expected 'instruction' or 'time'"),
        ("map.png", ("--buffer", "custom-call.66"), "did you mean custom-call.6"),
        ("map.png", ("--capacity", "much"), "size 'much'"),
    ],
)
def test_show_refuses_what_it_cannot_draw(
    command: Command,
    workload: Path,
    tmp_path: Path,
    name: str,
    options: tuple[str, ...],
    words: str,
) -> None:
    ran = command("show", workload, "input", "--out", tmp_path / name, *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
