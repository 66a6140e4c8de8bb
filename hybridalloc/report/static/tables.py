"""Tables of static problems and their answers, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group

from hybridalloc.report.static.records import StaticRecord
from hybridalloc.report.tables import facts_table, new_table, short_name, short_names
from hybridalloc.report.units import MISSING, ratio_text, size_text
from hybridalloc.static.description import StaticInfo
from hybridalloc.understanding.naming import listing

MOST_NAMES = 12
"""So many buffers are named; of the others, only their number."""


def static_table(row: StaticRecord) -> Group:
    """One answer; what is live when the most is, always."""
    facts = {
        "status": f"{row.status}, by {row.found_by}" if row.found_by else row.status,
        "capacity": size_text(row.capacity_bytes),
        "capacity reached": _reached(row),
        "least capacity": f"at least {_exact(row.bound_bytes)}",
        **_load_facts(row.load_bytes, row.load_instant, row.load_buffers),
        "search": f"{row.runtime_s:.2f} s, seed {row.seed}",
    }
    found = row.infeasibility
    if found is not None:
        facts["no offsets fit"] = (
            f"at {found.instruction}, {_exact(found.excess_bytes)} too much: "
            f"{found.reason}: {listing(found.culprits, MOST_NAMES)}"
        )
    return facts_table(f"{short_name(row.input)}; {row.strategy}", facts)


def static_comparison(rows: Sequence[StaticRecord]) -> Group:
    """A row for each answer."""
    heads = ["capacity", "reached", "maximum load", "ratio", "at least", "search"]
    table = new_table(["file", "strategy", "status"], heads)
    names, previous = short_names([row.input for row in rows]), None
    for row in rows:
        table.add_row(
            names[row.input] if row.input != previous else "",
            row.strategy,
            row.status,
            *map(_bytes, (row.capacity_bytes, row.peak_bytes, row.load_bytes)),
            ratio_text(row.ratio),
            _bytes(row.bound_bytes),
            f"{row.runtime_s:.1f} s",
        )
        previous = row.input
    return Group("bytes of one memory; static allocation", "", table)


def static_info(info: StaticInfo) -> Group:
    """What a file of buffers holds."""
    facts = {
        "capacity": size_text(info.capacity_bytes),
        "buffers": f"{info.buffers:,}",
        "  that take no space": f"{info.empty:,}",
        "  with a fixed offset": f"{info.fixed:,}",
        "  with a hint": f"{info.hinted:,}",
        "  with gaps": f"{info.gapped:,}",
        "instants": f"{info.start} to {info.end}",
        "parts apart in time": f"{info.parts:,}",
        "all buffers": _exact(info.total_bytes),
        "largest buffer": _exact(info.largest_bytes),
        "largest alignment": _exact(info.alignment),
        "least capacity": f"at least {_exact(info.bound_bytes)}",
        **_load_facts(info.load_bytes, info.load_instant, info.load_buffers),
    }
    return facts_table(f"{short_name(info.input)}; static allocation", facts)


def _load_facts(size: int, instant: int, buffers: tuple[str, ...]) -> dict[str, str]:
    return {
        "most live at once": f"{_exact(size)} at {instant}",
        "live then": listing(buffers, MOST_NAMES),
    }


def _reached(row: StaticRecord) -> str:
    if row.peak_bytes is None:
        return MISSING
    return f"{_exact(row.peak_bytes)}, {ratio_text(row.ratio)} of the maximum load"


def _bytes(size: int | None) -> str:
    """A number of bytes to the last."""
    return MISSING if size is None else f"{size:,}"


def _exact(size: int) -> str:
    """Bytes to the last, and to read."""
    return f"{size:,} B ({size_text(size)})" if size >= 1024 else size_text(size)
