"""``scripts/bench_growth.py``: how parts grow with the length of a program."""

from __future__ import annotations

import gzip
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridalloc.io.hlo.reader import parse_hlo
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.target import TARGETS

SCRIPT = Path(__file__).parents[1] / "scripts" / "bench_growth.py"
TARGET = TARGETS["tpu-v4i"]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What the script defines."""
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("name", ["lstm_lm_b64_s128", "dcgan_train_b128"])
def test_the_text_of_a_module_is_repeated_as_its_program_is(
    script: dict[str, Any], bundled: Path, name: str
) -> None:
    """All but the parameters is there three times, and takes three times as long."""
    with gzip.open(bundled / name / script["HLO"], "rt", encoding="utf-8") as file:
        text = file.read()
    once = parse_hlo(text, SCRIPT, TARGET).program
    long = parse_hlo(script["repeat_hlo"](text, 3), SCRIPT, TARGET).program
    entry = text.split("\nENTRY ")[1]
    shared = entry.count(" parameter(")
    assert len(long) == shared + 3 * (len(once) - shared)
    assert len(long.loops) == 3 * len(once.loops)
    slow_s = Simulator(Problem(once, TARGET)).slow_s
    assert Simulator(Problem(long, TARGET)).slow_s == pytest.approx(3 * slow_s)


def test_growth_is_the_exponent_of_what_the_limit_does_not_cut_short(
    script: dict[str, Any],
) -> None:
    """Four times the instructions take 16 = 4 ** 2 times as long."""
    figure = script["Figure"]
    whole = {100: figure(1.0, 1.0, 0.1), 400: figure(16.0, 16.0, 0.1)}
    cut = {1600: figure(60.0, 60.0, 0.1, limited=True)}
    assert script["growth"](whole | cut) == "2.00"
    assert script["growth"](cut) == "-"


def test_each_part_has_a_row_and_each_length_a_column(
    script: dict[str, Any],
    bundled: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """42 instructions are repeated 1 and 3 times; here, all in this process."""

    def here(work: Callable[..., object], *arguments: object) -> object:
        return work(*arguments)

    monkeypatch.setitem(script["main"].__globals__, "apart", here)
    script["main"]([bundled / "mixer_block_b128"], "42,100", "greedy", 2.0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| mixer_block_b128: instructions | 42 | 126 | growth |"
    parts = [line.split(" | ")[0].strip("| ") for line in lines[4:11]]
    assert parts == [
        *("read JSON", "read HLO", "`greedy`"),
        *("checker", "simulator", "oracle", "bound"),
    ]
    assert lines[-1].startswith("| `greedy` | ")
