"""A benchmark in short, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from hybridalloc.benchmarking.summaries import Summary
from hybridalloc.report.benchmark.contents import Contents, SectionContents
from hybridalloc.report.benchmark.placements import placement_overview
from hybridalloc.report.tables import new_table, simulated
from hybridalloc.report.units import MISSING, ratio_text, size_text
from hybridalloc.report.words import gap_text, plural

_HEADS = ("runs", "vs XLA", "vs slow", "won/tied/lost", "worst", "gap", "search")


def overview(contents: Contents) -> Iterator[RenderableType]:
    """A table of strategies for each section, one part after the other."""
    for section in contents.sections:
        yield _title(section)
        table = new_table(["strategy"], _HEADS)
        for summary in section.summaries:
            table.add_row(*_cells(summary))
        yield table
        yield ""
    for placements in contents.placements:
        yield from placement_overview(placements)
    if contents.missing:
        yield f"{plural(contents.missing, 'trial has', 'trials have')} not run yet"
    if contents.skipped:
        yield f"{plural(len(contents.skipped), 'trial', 'trials')} did not apply"


def _title(section: SectionContents) -> str:
    at = section.conditions
    robust = ", robust" if at.robust else ""
    return (
        f"{plural(len(section.section.programs), 'program', 'programs')}; "
        f"{at.time_limit_s:g} s{robust}; "
        f"{size_text(at.capacity_bytes)} of fast memory; "
        f"{simulated(at.cost_model, at.target)}"
    )


def _cells(summary: Summary) -> list[str]:
    against = f"{summary.wins}/{summary.ties}/{summary.losses}"
    return [
        summary.strategy,
        str(summary.runs),
        ratio_text(summary.vs_xla),
        ratio_text(summary.vs_slow),
        against if summary.vs_xla is not None else MISSING,
        ratio_text(summary.worst_vs_xla),
        MISSING if summary.gap is None else gap_text(summary.gap.median),
        MISSING
        if summary.mean_runtime_s is None
        else f"{summary.mean_runtime_s:.1f} s",
    ]
