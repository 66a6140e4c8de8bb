"""The report of a benchmark: Markdown, JSON and pictures."""

from __future__ import annotations

import json
from pathlib import Path

from hybridalloc.benchmarking.records import RecordFolder
from hybridalloc.errors import InputError
from hybridalloc.io.files import write_bytes, write_text
from hybridalloc.report.benchmark.contents import Contents
from hybridalloc.report.benchmark.page import page

__all__ = ["Contents", "map_folder", "record_folder", "write_report"]

FIGURES = "figures"
"""The folder, within that of the benchmark, of the pictures."""


def record_folder(folder: Path) -> RecordFolder:
    """Where the records are of a benchmark in this folder."""
    return RecordFolder(folder / "records")


def map_folder(folder: Path) -> Path:
    """Where the pages are that show the maps of a benchmark in this folder."""
    return folder / "maps"


def write_report(folder: Path, contents: Contents) -> None:
    """Write ``report.md``, ``report.json`` and the pictures that the former shows.

    Raises:
        InputError: A file cannot be written.
    """
    from hybridalloc.report.benchmark.pictures import pictures  # loads matplotlib

    text = json.dumps(contents.as_json(), indent=1, allow_nan=False)
    write_text(folder / "report.json", text + "\n")
    figures = folder / FIGURES
    try:
        figures.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(figures, f"cannot make this folder: {error}") from error
    shown: dict[str, list[str]] = {}
    for section in contents.sections:
        drawn = pictures(section)
        for name, data in drawn.items():
            write_bytes(figures / name, data)
        shown[section.name] = [f"{FIGURES}/{name}" for name in drawn]
    maps = sorted(path.name for path in map_folder(folder).glob("*.html"))
    write_text(folder / "report.md", page(contents, shown, maps))
