"""The answer to a static problem, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Group

from hybridalloc.report.tables import facts_table, short_name
from hybridalloc.report.units import ratio_text, size_text
from hybridalloc.static.answer import StaticAnswer

MOST_NAMES = 12
"""So many buffers are named; of the others, only their number."""


def static_record(path: str, answer: StaticAnswer) -> dict[str, object]:
    """One JSON object, with the fields of every answer and those of its own."""
    return {
        "input": path,
        "strategy": answer.strategy,
        "target": None,
        "cost_model": None,
        "capacity_bytes": answer.capacity,
        "status": answer.status.value,
        "valid": None if answer.offsets is None else True,
        "time_s": None,
        "bound_s": None,
        "gap": None,
        "slow_s": None,
        "xla_s": None,
        "speedup_vs_slow": None,
        "speedup_vs_xla": None,
        "peak_bytes": answer.peak_bytes,
        "moved_bytes": None if answer.offsets is None else 0,
        "stall_s": None,
        "runtime_s": answer.runtime,
        "seed": answer.seed,
        "bound_bytes": answer.bound_bytes,
        "load_bytes": answer.load.bytes,
        "load_instant": answer.load.instant,
        "load_buffers": list(answer.load.buffers),
        "ratio": answer.ratio,
        "found_by": answer.found_by,
        "infeasibility": None
        if answer.infeasibility is None
        else asdict(answer.infeasibility),
    }


def static_table(path: str, answer: StaticAnswer) -> Group:
    """One answer; what is live when the most is, always."""
    facts = {
        "status": _status(answer),
        "capacity": size_text(answer.capacity),
        "capacity reached": _reached(answer),
        "least capacity": f"at least {_exact(answer.bound_bytes)}",
        "most live at once": f"{_exact(answer.load.bytes)} at {answer.load.instant}",
        "live then": _names(answer.load.buffers),
        "search": f"{answer.runtime:.2f} s, seed {answer.seed}",
    }
    found = answer.infeasibility
    if found is not None:
        facts["no offsets fit"] = (
            f"at {found.instant}, {_exact(found.excess_bytes)} too much: "
            f"{found.reason}: {_names(found.culprits)}"
        )
    return facts_table(f"{short_name(path)}; {answer.strategy}", facts)


def _status(answer: StaticAnswer) -> str:
    return (
        f"{answer.status}, by {answer.found_by}" if answer.found_by else answer.status
    )


def _reached(answer: StaticAnswer) -> str:
    if answer.peak_bytes is None:
        return size_text(None)
    return (
        f"{_exact(answer.peak_bytes)}, {ratio_text(answer.ratio)} of the maximum load"
    )


def _exact(size: int) -> str:
    """Bytes to the last, and to read."""
    return f"{size:,} B ({size_text(size)})" if size >= 1024 else size_text(size)


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    rest = len(names) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown
