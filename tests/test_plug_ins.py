"""Strategies that other packages add: a real package, installed for these tests."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from hybridalloc import Run, UsageError
from hybridalloc.compose import parse
from hybridalloc.registry import (
    STATIC_STRATEGIES,
    STRATEGIES,
    describe,
    get_solver,
    plug_ins,
)

OURS = {**STRATEGIES, **STATIC_STRATEGIES}
"""All that come with this package."""

Ran = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package is installed in."""
    source = tmp_path_factory.mktemp("plugin") / "source"
    shutil.copytree(
        root / "tests" / "plugin", source, ignore=shutil.ignore_patterns("__pycache__")
    )
    target = source.parent / "site"
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", target, source],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    return target


def run(site: Path, root: Path, *arguments: str | Path) -> Ran:
    """Run ``hybridalloc`` where the package is installed."""
    return subprocess.run(
        [sys.executable, "-m", "hybridalloc", *map(str, arguments)],
        capture_output=True,
        check=False,
        text=True,
        cwd=site,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (site, root)))},
    )


@pytest.fixture
def workload(bundled: Path) -> Path:
    return bundled / "lstm_lm_b64_s128"


def test_they_are_listed_beside_ours_and_what_is_wrong_with_some_is_told(
    site: Path, root: Path
) -> None:
    ran = run(site, root, "strategies", "--json")
    assert ran.returncode == 0
    listed = json.loads(ran.stdout)
    assert listed == {
        **{name: entry.description for name, entry in OURS.items()},
        "constant": "(cannot be loaded)",
        "demanding": "Cannot be made without an argument. [acme-strategies]",
        "draws": "The best of a few random maps. [acme-strategies]",
        "failing": "(no description) [acme-strategies]",
        "gone": "(cannot be loaded)",
        "malformed": "(cannot be loaded)",
    }
    warnings = ran.stderr.splitlines()
    assert len(warnings) == 5
    assert all(x.startswith("warning: strategy '") for x in warnings)
    assert all(
        " of acme-strategies: hybridalloc has its own" in x for x in warnings[:2]
    )
    assert all(" of package acme-strategies" in x for x in warnings[2:])


def test_their_options_are_listed(site: Path, root: Path) -> None:
    ran = run(site, root, "strategies", "draws", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == {
        "count": {
            "value": "int",
            "default": "3",
            "description": "How many maps to draw.",
        }
    }


@pytest.mark.parametrize("text", ["draws", "best(draws(count=1)@30s,slow)>draws"])
def test_they_solve_alone_and_in_compositions(
    site: Path, root: Path, workload: Path, text: str
) -> None:
    ran = run(site, root, "solve", workload, "--strategy", text, "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    answer = json.loads(ran.stdout)
    assert (answer["strategy"], answer["valid"]) == (text, True)


def test_they_are_compared(site: Path, root: Path, workload: Path) -> None:
    names = "draws(count=2),greedy"
    ran = run(site, root, "compare", workload, "--strategies", names, "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    rows = json.loads(ran.stdout)
    assert [row["strategy"] for row in rows] == ["draws(count=2)", "greedy"]
    assert rows[0]["time_s"] > rows[1]["time_s"]  # ours is ours


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gone", "of package acme-strategies cannot be loaded from acme_strategies"),
        ("malformed", "of package acme-strategies cannot be loaded from acme strat"),
        ("constant", "acme_strategies:LIMIT is 100, expected a class"),
        ("demanding", "of package acme-strategies cannot be made: TypeError"),
        ("drows", "unknown strategy 'drows'; did you mean 'draws'?"),
        ("draws(count=0)", "count 0 is not in [1, 100]"),
        ("draws(cuont=1)", "did you mean 'count'?"),
    ],
)
def test_what_is_wrong_with_one_is_said_in_one_line_when_it_is_asked_for(
    site: Path, root: Path, workload: Path, text: str, message: str
) -> None:
    ran = run(site, root, "solve", workload, "--strategy", text)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: ")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_one_that_fails_is_called_by_its_package(
    site: Path, root: Path, workload: Path
) -> None:
    ran = run(site, root, "solve", workload, "--strategy", "slow>failing")
    assert (ran.returncode, ran.stdout) == (70, "")
    assert ran.stderr.startswith(
        "error: a defect in a strategy: strategy 'failing' of package acme-strategies "
        "failed: IndexError: list index out of range"
    )


def claim(monkeypatch: pytest.MonkeyPatch, *claims: tuple[str, str]) -> None:
    """Have entry points claim names for classes."""
    points = [EntryPoint(name, at, "hybridalloc.strategies") for name, at in claims]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: points)


def test_a_name_that_is_claimed_twice_is_nobodys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim(monkeypatch, ("twin", "a:A"), ("twin", "b:B"), ("other", "c:C"))
    assert list(plug_ins().entries) == ["other"]
    with pytest.raises(UsageError, match="'twin' is claimed more than once"):
        get_solver("twin")


def test_a_name_that_could_not_be_written_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim(monkeypatch, ("a>b", "a:A"))
    assert not plug_ins().entries
    assert list(plug_ins().refused) == ["a>b"]


def test_what_has_no_method_solve_is_no_strategy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim(monkeypatch, ("path", "pathlib:PurePath"))
    with pytest.raises(UsageError, match="has no method solve"):
        get_solver("path")


def test_a_class_within_a_class_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    claim(monkeypatch, ("nested", f"{__name__}:Outer.Inner"))
    assert describe("nested").startswith("In another class.")
    assert isinstance(get_solver("nested"), Outer.Inner)


class Outer:
    class Inner:
        """In another class."""

        def solve(self, problem: object, run: Run) -> None:
            """Do nothing."""


def test_nothing_is_looked_up_for_a_strategy_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*, group: str) -> None:
        raise AssertionError("looked through every package")

    monkeypatch.setattr(importlib.metadata, "entry_points", refuse)
    parse("best(greedy(displacements=1),slow)>random@5s")
