"""The script that plays random games of real programs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import typer

NAMES = ("lstm_lm_b64_s128", "gcn3_train_n4096", "mixer_block_b128")


@pytest.fixture
def script(root: Path) -> dict[str, Any]:
    """What it defines."""
    return runpy.run_path(str(root / "scripts" / "fuzz_game.py"))


@pytest.fixture
def folders(bundled: Path) -> list[Path]:
    return [bundled / name for name in NAMES]


def table(text: str) -> dict[str, dict[str, float]]:
    """The columns of each row, by name."""
    head, _, *rows = (line.split() for line in text.splitlines())
    return {
        row[0]: {
            name: float(cell.replace(",", ""))
            for name, cell in zip(head, row[1:], strict=True)
        }
        for row in rows
    }


def test_each_program_has_its_share_of_episodes_and_its_row(
    script: dict[str, Any],
    folders: list[Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A loop, donated buffers and updates in place are among them."""
    script["main"](folders, episodes=55, seed=3)
    found = table(capsys.readouterr().out)
    assert list(found) == [*NAMES, "all"]
    assert [found[name]["episodes"] for name in found] == [20, 20, 15, 55]
    assert found["all"]["executed"] == 1
    assert found["lstm_lm_b64_s128"]["loops"] > 0
    assert found["gcn3_train_n4096"]["donated"] > 0
    assert found["gcn3_train_n4096"]["in_place"] > 0
    assert found["gcn3_train_n4096"]["loops"] == 0
    assert 0 < found["all"]["options"] < 55
    assert found["all"]["worst"] <= 1e-9


def test_each_bundled_program_is_played_once_by_default(
    script: dict[str, Any], bundled: Path
) -> None:
    names = [x.name for x in script["workloads"]()]
    assert len(names) == len(set(names))
    assert {x.name for x in bundled.iterdir() if x.is_dir()} <= set(names)


def test_the_same_seed_plays_the_same_games(
    script: dict[str, Any],
    folders: list[Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = []
    for seed in (1, 1, 2):
        script["main"](folders[:1], episodes=6, seed=seed)
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("check", lambda *_: ("b3 overlaps b4",), "invalid: b3 overlaps b4"),
        ("CLOSE", -1.0, "the rewards sum to .* s, the map saves .* s"),
    ],
)
def test_the_first_fault_ends_it_with_an_error(
    script: dict[str, Any],
    folders: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: object,
    told: str,
) -> None:
    monkeypatch.setitem(script["main"].__globals__, name, value)
    with pytest.raises(typer.Exit) as stopped:
        script["main"](folders, episodes=9, seed=0)
    assert stopped.value.exit_code == 1
    assert re.search(told, capsys.readouterr().out.splitlines()[-1])


def test_what_another_program_computes_is_found_by_the_oracle(
    script: dict[str, Any],
    folders: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script_globals = script["main"].__globals__
    monkeypatch.setitem(script_globals, "EXECUTED", 3)
    monkeypatch.setitem(script_globals, "execute", lambda *_: ("b3 differs",))
    with pytest.raises(typer.Exit):
        script["main"](folders, episodes=9, seed=0)
    text = capsys.readouterr().out
    assert "it computes something else: b3 differs" in text
    assert table("\n".join(text.splitlines()[:-1]))["all"]["episodes"] == 2
