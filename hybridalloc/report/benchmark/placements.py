"""What a benchmark says of CSV files of buffers, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from hybridalloc.benchmarking.placements import (
    PlacementRun,
    PlacementSection,
    PlacementSummary,
)
from hybridalloc.report.benchmark.markdown import table
from hybridalloc.report.static import static_comparison
from hybridalloc.report.tables import new_table, short_name
from hybridalloc.report.units import MISSING, ratio_text
from hybridalloc.report.words import plural

_HEADS = ("runs", "fit", "proven", "ratio", "worst", "search", "longest", "CPU")
_RUN_HEADS = (
    *("strategy", "status", "buffers", "capacity", "reached", "maximum load"),
    *("ratio", "search, s", "CPU, s"),
)


def placement_overview(section: PlacementSection) -> Iterator[RenderableType]:
    """A table of strategies, and a row for each search."""
    yield _title(section)
    shown = new_table(["strategy"], _HEADS)
    for summary in section.summaries:
        shown.add_row(summary.strategy, *_cells(summary))
    yield shown
    yield ""
    yield static_comparison([run.record for run in section.runs])
    yield ""


def placement_page(section: PlacementSection) -> Iterator[str]:
    """The same as Markdown."""
    yield (
        f"## Static allocation, {section.time_limit_s:g} s\n\n"
        f"{_title(section)}. *Ratio*: the capacity reached over the most bytes that "
        f"are live at one time, geometric mean. *Proven*: the least capacity was "
        f"found, or that none fits. *CPU*: seconds of all searches together.\n"
    )
    rows = [[f"`{x.strategy}`", *_cells(x)] for x in section.summaries]
    yield table(("strategy", *_HEADS), rows)
    yield "### Every file\n"
    yield table(("file", *_RUN_HEADS), map(_row, section.runs), texts=3)


def _title(section: PlacementSection) -> str:
    files = len({run.record.input for run in section.runs})
    return (
        f"{plural(files, 'file', 'files')} of buffers, {section.time_limit_s:g} s "
        f"each, {plural(section.workers, 'worker', 'workers')}"
    )


def _cells(summary: PlacementSummary) -> list[str]:
    return [
        str(summary.runs),
        str(summary.fitting),
        str(summary.proven),
        ratio_text(summary.ratio),
        ratio_text(summary.worst_ratio),
        f"{summary.mean_runtime_s:.1f} s",
        f"{summary.longest_runtime_s:.1f} s",
        f"{summary.cpu_s:.1f} s",
    ]


def _row(run: PlacementRun) -> list[str]:
    record = run.record
    sizes = (record.capacity_bytes, record.peak_bytes, record.load_bytes)
    return [
        short_name(record.input),
        f"`{record.strategy}`",
        record.status,
        f"{run.buffers:,}",
        *(MISSING if size is None else f"{size:,}" for size in sizes),
        MISSING if record.ratio is None else f"{record.ratio:.4f}",
        f"{record.runtime_s:.1f}",
        MISSING if run.cpu_s is None else f"{run.cpu_s:.1f}",
    ]
