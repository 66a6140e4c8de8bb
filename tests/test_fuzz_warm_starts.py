"""The script that gives strategies random maps to start from."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import typer
from named_problems import CHAIN, FASTER, FASTEST, SLOW

from hybridalloc.registry import STRATEGIES
from hybridalloc.solver import Result
from hybridalloc.solving import solve

QUICK = ("slow", "random", "greedy", "belady", "annealing")
"""Strategies that load and compile little."""


@pytest.fixture
def script(root: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What it defines, with quick strategies alone."""
    found = runpy.run_path(str(root / "scripts" / "fuzz_warm_starts.py"))
    names = found["main"].__globals__
    monkeypatch.setitem(names, "STRATEGIES", {x: STRATEGIES[x] for x in QUICK})
    monkeypatch.setitem(names, "STARTS", ("random", "greedy"))
    monkeypatch.setitem(names, "TIMES_S", (0.0, 0.02))
    return found


@pytest.fixture
def folders(bundled: Path) -> list[Path]:
    return [bundled / "mixer_block_b128"]


def case(script: dict[str, Any], **options: object) -> Any:
    """The chain, from the map of 36 s."""
    chosen = {"time_limit": 1.0, "robust": False, "expressible": False, **options}
    return script["Case"]("chain", CHAIN, FASTER, "greedy", chosen)


def answer(*maps: Any) -> Result:
    """One with these maps, the first of them the warm start."""
    result = solve(CHAIN, "slow", warm_start=maps[0])
    best = solve(CHAIN, "slow", warm_start=maps[-1])
    return replace(result, map=best.map, time=best.time)


def test_cases_are_counted_by_strategy_and_end_without_a_fault(
    script: dict[str, Any], folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    script["main"](folders, most=12, seed=1)
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["cases", "small", "faster"]
    counts = {row.split()[0]: [int(x) for x in row.split()[1:4]] for row in rows}
    assert set(counts) <= {*QUICK, "compositions", "all"}
    cases, small, _ = counts.pop("all")
    assert (cases, small) == (12, 9)  # one in four is the given program
    assert sum(x for x, _, _ in counts.values()) == cases


def test_a_number_has_the_same_case_wherever_it_is_begun_with(
    script: dict[str, Any], folders: list[Path]
) -> None:
    first = list(islice(script["cases"](folders, 3, 0), 3))
    number, expected = first[-1]
    assert next(script["cases"](folders, 3, number)) == (number, expected)


def test_an_answer_is_judged_against_its_warm_start(script: dict[str, Any]) -> None:
    judge = script["judge"]
    assert judge(case(script), answer(FASTER, FASTEST)) == ""
    assert judge(case(script), answer(FASTER, FASTER)) == ""
    slower = judge(case(script), answer(FASTER, SLOW))
    assert re.fullmatch(r"48.0 s under roofline, the warm start 36.0 s", slower)
    other = judge(case(script), answer(SLOW, FASTEST))
    assert other == "the history does not begin with the warm start"
    nothing = replace(answer(FASTER, FASTER), map=None)
    assert judge(case(script), nothing) == "no map"
    wrong = replace(answer(FASTER, FASTEST), time=1.0)
    assert judge(case(script), wrong) == "24.0 s, called 1.0 s"
    late = replace(answer(FASTER, FASTEST), runtime=30.0)
    assert judge(case(script), late) == "after 30.0 s"


def test_the_first_fault_ends_it_with_an_error(
    script: dict[str, Any],
    folders: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = script["main"].__globals__
    monkeypatch.setitem(names, "judge", lambda *_: "no map")
    with pytest.raises(typer.Exit) as stopped:
        script["main"](folders, most=3, seed=4)
    assert stopped.value.exit_code == 1
    told = capsys.readouterr().out.splitlines()[-1]
    assert re.match(r"case \d of seed 4: .*: no map$", told)
