"""Tables of answers, for people: one, or those to several inputs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group

from hybridalloc.report.records import Mean, Record, means
from hybridalloc.report.tables import (
    facts_table,
    new_table,
    short_name,
    short_names,
    simulated,
)
from hybridalloc.report.units import MISSING, ratio_text, size_text, time_text
from hybridalloc.report.words import XLA_ANSWER, gap_text
from hybridalloc.solver import Status


def answer_table(row: Record) -> Group:
    """One answer beside all-slow and the compiler's own."""
    facts = {
        "status": row.status,
        "time": time_text(row.time_s),
        **_robust_facts(row),
        "all in slow memory": _reference(row.slow_s, row.speedup_vs_slow),
        **_compiler_facts(row),
        "lower bound": _bound(row),
        "peak of fast memory": _peak(row),
        "moved by copies": size_text(row.moved_bytes),
        "waiting for copies": time_text(row.stall_s),
        "search": f"{row.runtime_s:.2f} s, seed {row.seed}",
    }
    if row.infeasibility is not None:
        facts["no valid map"] = (
            f"instruction {row.infeasibility.instruction} needs "
            f"{size_text(row.infeasibility.excess_bytes)} too much: "
            f"{', '.join(row.infeasibility.culprits)}"
        )
    return facts_table(_title(short_name(row.input), [row]), facts)


def comparison_table(rows: Sequence[Record]) -> Group:
    """A row for each answer, and geometric means of speed-ups and gaps.

    Columns for strategy and capacity appear only where there are several, and take the
    places of those at the end. Of a robust search, the speed-ups are those against the
    warm start under each cost model.
    """
    names = short_names([row.input for row in rows])
    varied = [name for name in _CHOICES if _several(rows, name)]
    is_robust = any(row.speedups_vs_start for row in rows)
    heads = _ROBUST_FIGURES if is_robust else _FIGURES
    table = new_table(
        ["program", *(_CHOICES[name] for name in varied)],
        heads[: len(heads) - len(varied)],
    )
    table.columns[0].no_wrap = False  # gives way first where there is little room
    previous = None
    for row in rows:
        name = names[row.input] if row.input != previous else ""
        figures = _figures(row)[: len(table.columns) - 1 - len(varied)]
        table.add_row(name, *_choice(row, varied), *figures)
        previous = row.input
    table.add_section()
    for mean in means(rows):
        first = ["geometric mean", *_choice(mean, varied)]
        table.add_row(*first, *_mean_figures(mean))
    return Group(_title("", rows), "", table)


_FIGURES = ["time", "vs slow", "vs XLA", "bound", "gap", "search", "peak"]
"""The columns of a comparison, but for the choices."""
_ROBUST_FIGURES = ["time", "roofline", "cycles", "bound", "gap", "search", "peak"]
"""The same of a robust search."""
_CHOICES = {"strategy": "strategy", "capacity_bytes": "capacity"}
"""What distinguishes the answers to one input, and the columns that say it."""


def _several(rows: Sequence[Record], name: str) -> bool:
    return len({getattr(row, name) for row in rows}) > 1


def _title(program: str, rows: Sequence[Record]) -> str:
    """The program, if one, the strategy and capacity, if one each, and the models."""
    parts = [program] if program else []
    if not _several(rows, "strategy"):
        parts.append(rows[0].strategy)
    if not _several(rows, "capacity_bytes"):
        parts.append(f"{size_text(rows[0].capacity_bytes)} of fast memory")
    models = {(row.cost_model, row.target) for row in rows}
    parts += [simulated(*pair) for pair in sorted(models)]
    if len(rows) > 1 and any(row.speedups_vs_start for row in rows):
        parts.append("speed-ups under both are against the warm start")
    return "; ".join(parts)


def _choice(row: Record | Mean, varied: Sequence[str]) -> list[str]:
    values = {"strategy": row.strategy, "capacity_bytes": size_text(row.capacity_bytes)}
    return [values[name] for name in varied]


def _time(row: Record) -> str:
    return time_text(row.time_s) if row.answered else row.status


def _figures(row: Record) -> list[str]:
    return [
        _time(row),
        *_speedups(row),
        time_text(row.bound_s),
        _gap(row),
        f"{row.runtime_s:.1f} s",
        size_text(row.peak_bytes),
    ]


def _speedups(row: Record | Mean) -> list[str]:
    """Against all-slow and XLA, or under each model against the warm start."""
    if row.speedups_vs_start is not None:
        return [ratio_text(speedup) for speedup in row.speedups_vs_start.values()]
    return [ratio_text(row.speedup_vs_slow), ratio_text(row.speedup_vs_xla)]


def _compiler_facts(row: Record) -> dict[str, str]:
    """The time of the compiler's own answer, if the input carries one that is valid."""
    if row.xla_s is None:
        return {}
    return {XLA_ANSWER: _reference(row.xla_s, row.speedup_vs_xla)}


def _robust_facts(row: Record) -> dict[str, str]:
    """The times under each cost model, where the search was robust."""
    if row.times_s is None or row.speedups_vs_start is None:
        return {}
    speedups = row.speedups_vs_start
    return {
        f"time under {model}": f"{time_text(time_s)}, speed-up "
        f"{ratio_text(speedups[model])} over the warm start"
        for model, time_s in row.times_s.items()
    }


def _gap(row: Record) -> str:
    if row.status == Status.OPTIMAL:
        return "optimal"
    return MISSING if row.gap is None else gap_text(row.gap)


def _mean_figures(mean: Mean) -> list[str]:
    def of(count: int) -> str:
        return f" (of {count})" if 0 < count < mean.inputs else ""

    first, second = _speedups(mean)
    if mean.speedups_vs_start is None:
        second += of(mean.inputs_vs_xla)
    gap = MISSING if mean.gap is None else gap_text(mean.gap)
    return ["", first, second, "", gap + of(mean.inputs_with_gap)]


def _reference(seconds: float | None, speedup: float | None) -> str:
    if speedup is None:
        return time_text(seconds)
    return f"{time_text(seconds)}, speed-up {ratio_text(speedup)}"


def _peak(row: Record) -> str:
    if row.fragmentation is None:
        return size_text(row.peak_bytes)
    return f"{size_text(row.peak_bytes)}, fragmentation {row.fragmentation:.1%}"


def _bound(row: Record) -> str:
    if row.gap is None:
        return time_text(row.bound_s)
    return f"{time_text(row.bound_s)}, gap {gap_text(row.gap)}"
