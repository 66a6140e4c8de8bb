"""What is fetched when the package is built."""

from __future__ import annotations

import importlib.util
import tarfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hatchling")
HERE = Path("hybridalloc/report/picture/web/uplot")


@pytest.fixture
def build(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The module, for which npm has what is in the checkout; and a folder to fill."""
    spec = importlib.util.spec_from_file_location("build", root / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / HERE).parent.mkdir(parents=True)

    def packed(folder: Path) -> Path:
        with tarfile.open(folder / "uplot.tgz", "w:gz") as archive:
            for part in module.PARTS:
                archive.add(root / HERE / Path(part).name, f"package/{part}")
        return folder / "uplot.tgz"

    monkeypatch.setattr(module, "_packed", packed)
    return module


def run(build: Any, folder: Path) -> None:
    hook = build.UPlotHook(str(folder), {}, None, None, str(folder), "wheel")
    hook.initialize("standard", {})


def test_what_the_checkout_has_is_what_the_build_expects(
    build: Any, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_packed", lambda folder: pytest.fail("it is there"))
    run(build, root)


@pytest.mark.parametrize("stale", [None, "LICENSE", "uPlot.min.css"])
def test_what_is_missing_or_of_another_version_is_fetched(
    build: Any, root: Path, tmp_path: Path, stale: str | None
) -> None:
    if stale is not None:
        run(build, tmp_path)
        (tmp_path / HERE / stale).write_text("of another version")
    run(build, tmp_path)
    for path in (root / HERE).iterdir():
        assert (tmp_path / HERE / path.name).read_bytes() == path.read_bytes()


def test_a_part_that_is_not_what_it_was_is_refused(
    build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(build.PARTS, "LICENSE", "0" * 64)
    with pytest.raises(RuntimeError, match=r"uplot@.*, LICENSE: expected SHA-256 000"):
        run(build, tmp_path)
