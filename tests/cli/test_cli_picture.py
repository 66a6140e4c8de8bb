"""``show``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Command

from hybridalloc.io.json_format import write_problem
from hybridalloc.io.read import read_problem
from hybridalloc.report.picture import web

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


def test_show_writes_a_page_of_two_maps_and_a_trace(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    found, out, trace = (tmp_path / x for x in ("map.json", "map.html", "trace.json"))
    command(
        "solve", workload, "--strategy", "greedy", "--iterations", 1, "--out", found
    )
    ran = command("show", workload, "input", found, "--out", out, "--trace", trace)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"picture written to {out}\ntrace written to {trace}\n"
    assert '"A: XLA\'s own answer \\u00b7 lstm_lm_b64_s128"' in out.read_text()
    assert "traceEvents" in json.loads(trace.read_text())


def test_show_without_a_map_draws_the_compilers_answer_or_an_empty_map(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    problem, out = tmp_path / "problem.json", tmp_path / "map.html"
    assert command("show", workload, "--out", out).code == 0
    assert "20 allocations" in out.read_text()
    bare = read_problem(workload)
    write_problem(replace(bare, compiler_map=None), problem)
    assert command("show", problem, "--out", out).code == 0
    assert "0 allocations" in out.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--x", "time"), "--x: expected --out FILE.html|png|svg|pdf"),
        (("--buffer", "#3"), "--buffer: expected --out FILE.html|png|svg|pdf"),
    ],
)
def test_a_trace_takes_no_options_of_a_picture(
    command: Command,
    workload: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    words: str,
) -> None:
    trace = tmp_path / "trace.json"
    ran = command("show", workload, "input", "--trace", trace, *options)
    assert (ran.code, ran.out, trace.exists()) == (2, "", False)
    assert words in ran.err


def test_an_axis_is_checked_before_the_input_is_read(
    command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "map.png"
    ran = command("show", tmp_path / "missing.json", "--out", out, "--x", "space")
    assert (ran.code, ran.out) == (2, "")
    assert "'space': expected 'instruction' or 'time'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("input",), "expected --out FILE.html|png|svg|pdf or --trace FILE.json"),
        (
            ("a", "b", "c", "--out", "map.png"),
            "3 maps: expected one, or two to compare",
        ),
    ],
)
def test_show_says_what_it_needs(
    command: Command, workload: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = command("show", workload, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_solve_draws_the_map_that_it_finds(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    plot = tmp_path / "map.html"
    quick = ("--strategy", "greedy", "--iterations", 1, "--bound-time", 0)
    ran = command("solve", workload, *quick, "--plot", plot)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith(f"\n\npicture written to {plot}\n")
    assert "uPlot" in plot.read_text()


def test_solve_refuses_a_picture_that_cannot_be_before_it_searches(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    ran = command("solve", workload, "--plot", tmp_path / "map.gif")
    assert (ran.code, ran.out) == (2, "")
    assert "map.gif: expected a name that ends in .html" in ran.err


@pytest.fixture
def no_uplot(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a checkout that was never installed."""
    monkeypatch.setattr(web, "UPLOT", ("missing.js",))


@pytest.mark.usefixtures("no_uplot")
def test_a_page_without_what_draws_it_is_refused_with_the_remedy(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    for arguments in (("show", workload, "--out"), ("solve", workload, "--plot")):
        ran = command(*arguments, tmp_path / "map.html")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "pages (.html) need uPlot" in ran.err
        assert "pip install -e ." in ran.err
    assert command("show", workload, "--out", tmp_path / "map.svg").code == 0


def test_solve_keeps_its_answer_if_the_picture_cannot_be_drawn(
    command: Command, workload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot, out = tmp_path / "map.html", tmp_path / "map.json"
    monkeypatch.setattr("hybridalloc.cli.answers.require_picture", lambda path: None)
    monkeypatch.setattr(web, "UPLOT", ("missing.js",))
    quick = ("--strategy", "greedy", "--iterations", 1, "--bound-time", 0)
    ran = command("solve", workload, *quick, "--plot", plot, "--out", out)
    assert ran.code == 2
    assert f"map written to {out}" in ran.out
    assert "need uPlot" in ran.err
