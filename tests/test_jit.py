"""Compilation: what is kept, for as long as it is right, and what cannot be."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from hybridalloc import jit
from hybridalloc.jit import compiled
from hybridalloc.registry import STRATEGIES, load


def test_functions_compile_where_no_compiled_code_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "installed.py"
    source.write_text("def double(x):\n    return 2 * x\n", encoding="utf-8")
    # Files stand where directories would have to be made.
    blocked = tmp_path / "__pycache__"
    blocked.touch()
    monkeypatch.setenv("HOME", str(blocked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("installed", source)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert compiled(module.double)(21) == 42


CALLEE = """
from hybridalloc.jit import compiled

FACTOR = {factor}

@compiled
def scaled(x):
    return FACTOR * x + {more}
"""
CALLER = """
from hybridalloc.jit import compiled
from callee import scaled

@compiled
def total(x):
    return scaled(x) + scaled(1.0)

result = total(2.0)
hits, misses = total.stats.cache_hits, total.stats.cache_misses
print(result, sum(hits.values()), sum(misses.values()))
"""


def run_caller(folder: Path) -> list[str]:
    """What another process prints: the total, and how often it was found and not."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    root = str(Path(__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), root])
    ran = subprocess.run(
        [sys.executable, "caller.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.split()


def test_a_caller_is_compiled_anew_once_its_callee_has_changed(tmp_path: Path) -> None:
    """3 * 2 + 3 * 1 is 9; with 5 in place of 3 it is 15; with 1 more each, 17."""
    callee = tmp_path / "callee.py"
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    callee.write_text(CALLEE.format(factor=3, more=0), encoding="utf-8")
    assert run_caller(tmp_path) == ["9.0", "0", "1"]
    assert run_caller(tmp_path) == ["9.0", "1", "0"]
    callee.write_text(CALLEE.format(factor=5, more=0), encoding="utf-8")
    assert run_caller(tmp_path) == ["15.0", "0", "1"]
    callee.write_text(CALLEE.format(factor=5, more=1), encoding="utf-8")
    assert run_caller(tmp_path) == ["17.0", "0", "1"]


@compiled
def doubled(x: float) -> float:
    """Of one type, whether its callers write a number out or not."""
    return 2 * x


@compiled
def doubles(x: int) -> float:
    """Three calls: with two numbers that are written out, and one that is not."""
    return doubled(3) + doubled(4) + doubled(x)


def test_numbers_that_callers_write_out_make_no_versions_of_their_own() -> None:
    assert doubles(5) == 24
    # None, if the caller was found compiled.
    assert len(doubled.overloads) <= 1  # type: ignore[attr-defined]


def test_no_compiled_function_hands_back_a_named_tuple() -> None:
    """Numba runs Python to make one, which crashes if Ctrl-C comes just then."""
    for name, entry in STRATEGIES.items():
        if not entry.composition:
            load(name)
    returned = {x.__name__: get_type_hints(x).get("return") for x in jit._functions}
    assert {"progress", "sort_copies", "run_time"} <= returned.keys()
    named = {x for x, kind in returned.items() if hasattr(kind, "_fields")}
    assert named == {"node_of"}  # which compiled code alone calls
