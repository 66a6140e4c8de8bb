"""What is installed, and what importing it loads."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ASSETS = [f"hybridalloc/report/picture/web/{x}" for x in ("assets", "uplot")]


def python(*arguments: str, cwd: Path, path: Path) -> str:
    """What a fresh interpreter prints that finds packages in a folder first."""
    ran = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(path)},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by way of the source distribution as for a release."""
    out = tmp_path_factory.mktemp("dist")
    here = (
        "--no-isolation",
        "--skip-dependency-check",
    )  # uPlot is there, npm need not be
    python("-m", "build", *here, "--outdir", str(out), cwd=root, path=root)
    (built,) = out.glob("*.whl")
    return built


@pytest.mark.parametrize("module", ["hybridalloc", "hybridalloc.cli"])
def test_importing_the_package_loads_nothing_large(
    module: str, root: Path, tmp_path: Path
) -> None:
    code = f"import {module}, sys; print(*sys.modules)"
    loaded = python("-c", code, cwd=tmp_path, path=root).split()
    assert module in loaded
    large = {"gymnasium", "matplotlib", "numba", "onnx", "ortools", "torch"}
    assert not large & set(loaded)


def test_the_wheel_holds_the_folders_and_the_marker_of_its_types(
    wheel: Path, root: Path
) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("agents", "baselines", "cpsat_models", "cli", "io/hlo"):
        assert f"hybridalloc/{folder}/__init__.py" in names
    assert {"hybridalloc/py.typed", "hybridalloc/baselines/greedy.py"} <= names
    assets = [path for folder in ASSETS for path in (root / folder).iterdir()]
    assert {path.relative_to(root).as_posix() for path in assets} <= names
    assert {name.split("/")[0] for name in names} == {
        "hybridalloc",
        "hybridalloc-0.1.0.dist-info",
    }
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_works_from_another_folder(
    wheel: Path, bundled: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = "import hybridalloc; print(hybridalloc.__file__)"
    assert python("-c", code, cwd=tmp_path, path=site).startswith(str(site))
    workload = str(bundled / "lstm_lm_b64_s128")
    module = ("-m", "hybridalloc", "check", workload, "input")
    assert python(*module, cwd=tmp_path, path=site) == "valid (tpu-v4i, 128 MiB)\n"
