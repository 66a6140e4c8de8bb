"""A stand-in for jax, where the process that compiles finds it, and a program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

PROGRAM = """
import jax

def double(x):
    return x

def fails(x):
    raise ValueError("shapes differ")

def arguments():
    return jax.ShapeDtypeStruct((1024,), "float32")

def pair():
    return arguments(), [arguments()]

def ends():
    raise SystemExit("not today")

def text():
    return "words"

def takes_two(x, rest):
    assert len(rest) == 1
"""


@pytest.fixture
def jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in for jax: the folder that packages are found in."""
    site = tmp_path / "site"
    for name, text in {
        "jax/__init__.py": "from stand_in_jax import *",
        "jax/experimental/__init__.py": "from stand_in_jax import topologies",
        "libtpu/__init__.py": "",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.syspath_prepend(site)
    return site


@pytest.fixture
def no_jax(jax: Path) -> Path:
    """An environment in which jax cannot be imported."""
    shutil.rmtree(jax / "jax" / "experimental")
    text = "raise ModuleNotFoundError(\"No module named 'jax'\")"
    (jax / "jax" / "__init__.py").write_text(text)
    return jax


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The path of a Python file with functions to compile."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
