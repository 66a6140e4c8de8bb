"""The scripts that are not run by the commands of the documentation alone."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from hybridalloc.learned.prediction import loads

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture(scope="module")
def bench_msa() -> dict[str, Any]:
    """What the script defines."""
    return runpy.run_path(str(SCRIPTS / "bench_msa.py"))


def test_the_agreement_of_msa_with_xla_is_printed_for_each_program(
    bench_msa: dict[str, Any], bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["lstm_lm_b64_s128", "gcn3_train_n4096"]
    bench_msa["main"]([str(bundled / name) for name in names])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("simulated: roofline, tpu-v4i")
    for name, line in zip(names, lines[2:4], strict=True):
        figures = line.split()
        assert figures[0] == name
        assert len(figures) == 1 + len(bench_msa["HEADS"])
    assert lines[5].startswith("all (2): msa / XLA ")
    assert lines[6].startswith("inference (1): msa / XLA ")


def test_programs_are_repeated_and_timed_as_one(
    bench_msa: dict[str, Any], bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a program of 58 instructions, three copies have at least 150: 174."""
    folder = bundled / "lstm_lm_b64_s128"
    bench_msa["main"](["--repeat", "150", str(folder)])
    msa, checker, simulator = capsys.readouterr().out.splitlines()
    assert msa.startswith("174 instructions, ")
    assert checker.endswith(" s, 0 violations")
    assert simulator.startswith("simulator ")


def test_prefetches_agree_up_to_two_instructions_of_the_same_buffer(
    bench_msa: dict[str, Any],
) -> None:
    xla = [(0, 5), (0, 9), (1, 5), (2, 5)]
    found = [(0, 7), (0, 6), (1, 8), (3, 5)]
    assert bench_msa["agreeing"](xla, found) == 2


def test_the_learned_model_is_compared_on_programs_that_it_was_not_fitted_to(
    bundled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = runpy.run_path(str(SCRIPTS / "fit_cycles.py"))
    names = ["lstm_lm_b64_s128", "gcn3_train_n4096", "mixer_block_b128"]
    weights = tmp_path / "weights.json"
    folders = [str(bundled / name) for name in names]
    script["main"]([*folders, "--out", str(weights), "--strategy", "slow"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["3", "programs"]
    table = [re.split(r" {2,}", line.strip()) for line in lines[2:6]]
    ranks = {name: float(rank) for name, rank, *_ in table}
    assert list(ranks) == list(script["MODELS"])
    assert ranks["learned"] > ranks["roofline"]
    assert [line for line in lines if line.startswith("slow under")] == [
        f"slow under {name}: 1.000" for name in (*script["MODELS"], "cycles")
    ]
    assert loads(weights.read_text()).weights[""]


def test_reading_by_the_tables_alone_is_compared_with_reading_the_program(
    bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = runpy.run_path(str(SCRIPTS / "compare_tables.py"))
    script["main"]([str(bundled / "mixer_block_b128"), "--strategy", "slow"])
    lines = capsys.readouterr().out.splitlines()
    figures = lines[2].split()
    assert figures[:5] == ["mixer_block_b128", "97.4%", "100.0%", "100.0%", "0"]
    assert figures[-1] == "1.000"
    assert lines[3].startswith("1 programs: XLA's answer valid in 1; map valid in 1")


def test_the_gain_of_windows_is_printed_for_each_way_to_draw_them(
    bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = runpy.run_path(str(SCRIPTS / "bench_windows.py"))
    script["main"](
        [bundled / "wide_deep_b8192"],
        strategies="windows;windows(propose=relaxation)",
        start="slow",
        windows=2,
        seeds=1,
    )
    lines = capsys.readouterr().out.splitlines()
    name, *gains = lines[3].split()
    assert name == "wide_deep_b8192"
    assert all(float(x) >= 0 for x in gains)
    assert lines[4].split() == ["mean", *gains]
