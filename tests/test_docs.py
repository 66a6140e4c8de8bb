"""Every command and every piece of Python in the documentation runs, but for ``make``.

Searches have no more than three seconds: that they run is tested, not what they find.
Those behind `<!-- needs jax -->` run where jax and the TPU compiler are installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "workloads" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
WALKS = {"first_map.md", "roundtrip.md"}
"""Pages whose blocks go on from each other: each is run as one."""
SET_UP = {f"make {x}" for x in ("setup", "demo", "test", "check", "handbook")}
"""Commands that set up an environment; not run here, and of them continuous integration
runs ``make test`` alone, besides ``make lint``."""
BLOCK = re.compile(
    r"^(<!-- needs jax -->\n)?```(sh|console|python)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LIMIT_S = re.compile(r"(?<=--time-limit )[\d.]+|(?<=time_limit=)[\d.]+")
MOST_S = 3.0
HAS_JAX = all(map(importlib.util.find_spec, ("jax", "libtpu", "cloudpickle")))
NEEDS_JAX = pytest.mark.skipif(not HAS_JAX, reason="needs jax with the TPU compiler")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")


def blocks(*languages: str) -> list[ParameterSet]:
    """The blocks of code in these languages, named by page and line."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        walks: dict[tuple[bool, int], list[str]] = {}
        for match in BLOCK.finditer(text):
            if match[2] in languages:
                needs_jax = bool(match[1])
                line = text.count("\n", 0, match.start(2)) + 1
                walk = (needs_jax, 1 if page.name in WALKS else line)
                code = match[3] if needs_jax else LIMIT_S.sub(shortened, match[3])
                walks.setdefault(walk, []).append(code)
        for (needs_jax, line), codes in walks.items():
            name = f"{page.relative_to(ROOT)}:{line}"
            marks = NEEDS_JAX if needs_jax else ()
            found.append(pytest.param("".join(codes), id=name, marks=marks))
    return found


def shortened(limit: re.Match[str]) -> str:
    """A limit in seconds, but not more than the tests have time for."""
    return f"{min(float(limit[0]), MOST_S):g}"


def commands(block: str) -> list[str]:
    """The commands of a block; of a console, the lines after its prompt."""
    lines = block.replace("\\\n", " ").splitlines()
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in prompted or lines if line and line not in SET_UP]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder to work in that looks like the project's root."""
    for name in ("examples", "docs", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("block", blocks("sh", "console"))
def test_the_commands_of_a_page_succeed(block: str, copy: Path) -> None:
    bin_folder = copy / "bin"
    bin_folder.mkdir()
    python = shlex.quote(sys.executable)
    for name, command in (
        ("python", python),
        ("hybridalloc", f"{python} -m hybridalloc"),
    ):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        script.chmod(0o755)
    path = os.pathsep.join((str(bin_folder), os.environ["PATH"]))
    for command in commands(block):
        ran = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            check=False,
            text=True,
            cwd=copy,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        )
        assert (ran.returncode, ran.stderr) == (0, ""), command


@pytest.mark.parametrize("block", blocks("python"))
def test_the_python_of_a_page_runs(
    block: str, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    exec(compile(block, "block", "exec"), {})


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")))
def test_an_example_runs_and_is_short(
    script: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    runpy.run_path(str(script), run_name="__main__")
    assert len(script.read_text().splitlines()) < 40


def test_the_strategy_that_a_page_shows_is_the_example() -> None:
    example = (ROOT / "examples" / "own_strategy.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    assert f"```python\n{example}```\n" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_links_to_files_that_exist(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
