"""The handbook: it builds without a warning, and asks for nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import hybridalloc

ASKED_FOR = re.compile(
    r"<(?:script|link|img)[^>]+(?:src|href)=\"?((?:https?:)?//[^\"> ]*)"
)
"""Whatever a page would load from another address."""
TOOLS = ("mkdocs", "material", "mkdocstrings_handlers")
HAS_TOOLS = all(map(importlib.util.find_spec, TOOLS))


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages."""
    if not HAS_TOOLS:
        pytest.skip("MkDocs Material and mkdocstrings are not installed")
    built = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", built],
        check=True,
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    return built


def test_each_page_is_built_and_asks_for_nothing_from_elsewhere(
    site: Path, root: Path
) -> None:
    names = {page.stem for page in (root / "docs").glob("*.md")}
    assert {page.stem for page in site.glob("*.html")} == names | {"404"}
    for page in site.glob("*.html"):
        assert ASKED_FOR.findall(page.read_text(encoding="utf-8")) == [], page.name


def test_each_public_name_is_described(root: Path) -> None:
    page = (root / "docs" / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^::: hybridalloc\.(\w+)$", page, re.MULTILINE))
    assert named == set(hybridalloc.__all__)


def test_the_pictures_are_those_that_the_script_draws(
    root: Path, tmp_path: Path
) -> None:
    figures = root / "docs" / "figures"
    runpy.run_path(str(root / "scripts" / "draw_figures.py"))["main"](tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {path.name for path in figures.glob("tiny-*")}
    for drawn in tmp_path.iterdir():
        kept = figures / drawn.name
        assert kept.read_bytes() == drawn.read_bytes(), drawn.name


def test_the_target_is_the_one_that_the_page_prints(root: Path) -> None:
    page = (root / "docs" / "extending.md").read_text(encoding="utf-8")
    target = (root / "examples" / "targets" / "npu.toml").read_text(encoding="utf-8")
    assert f"```toml\n{target}```" in page
