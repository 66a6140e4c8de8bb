"""Tables for people: answers, comparisons, and what the command line lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table

from hybridalloc.report.records import Mean, Record, means
from hybridalloc.report.units import MISSING, ratio_text, size_text, time_text
from hybridalloc.report.words import gap_text, printable
from hybridalloc.solver import Status
from hybridalloc.target import Target


def simulated(cost_model: str, target: str) -> str:
    """What every page of figures says about its times."""
    return f"times are simulated: {cost_model}, {target}"


def title(name: str, capacity: int, cost_model: str, target: str) -> str:
    """What a page of figures is about.

    Args:
        name: What the input is called.
        capacity: Bytes of fast memory.
        cost_model: How time is judged.
        target: Its name.
    """
    models = simulated(cost_model, target)
    return (
        f"{printable(short_name(name))}; {size_text(capacity)} of fast memory; {models}"
    )


def new_table(left: Sequence[str], right: Sequence[str] = ()) -> Table:
    """An empty table.

    Args:
        left: The first columns' heads, of text.
        right: The other columns' heads, of figures.
    """
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for head in left:
        table.add_column(head, no_wrap=True, overflow="ellipsis")
    for head in right:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def facts_table(title: str, facts: Mapping[str, str]) -> Group:
    """A table of one fact a line, under a title."""
    table = new_table([""])
    table.add_column(overflow="fold")
    table.show_header = False
    for name, value in facts.items():
        table.add_row(name, value)
    return Group(title, "", table)


def answer_table(row: Record) -> Group:
    """One answer beside all-slow and the compiler's own."""
    facts = {
        "status": row.status,
        "time": time_text(row.time_s),
        "all in slow memory": _reference(row.slow_s, row.speedup_vs_slow),
        "XLA's own answer": _reference(row.xla_s, row.speedup_vs_xla),
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
    places of those at the end.
    """
    names = short_names([row.input for row in rows])
    varied = [name for name in _CHOICES if _several(rows, name)]
    table = new_table(
        ["program", *(_CHOICES[name] for name in varied)],
        _FIGURES[: len(_FIGURES) - len(varied)],
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


def targets_table(targets: Mapping[str, Target]) -> Group:
    """The constants of the built-in targets."""
    right = ["capacity", "aligned", "fast", "slow", "peak", "clock", "copies"]
    table = new_table(["target"], right)
    for name, target in targets.items():
        engine = target.copy_engine
        table.add_row(
            name,
            size_text(target.fast.capacity),
            size_text(target.fast.alignment),
            f"{target.fast.read_bandwidth / 1e9:.0f} GB/s",
            f"{target.slow.read_bandwidth / 1e9:.0f} GB/s",
            f"{target.flops_per_second / 1e12:.0f} TFLOP/s",
            f"{target.clock_hz / 1e9:.2f} GHz",
            f"{engine.max_outstanding_prefetches} + {engine.max_outstanding_evictions}",
        )
    title = "fast memory, both bandwidths, peak rate, clock, most copies in + out"
    return Group(title, "", table)


def info_table(values: Mapping[str, object]) -> Group:
    """A description of an input.

    Args:
        values: The fields of ``Info`` by name; units follow from ``_s`` and ``_bytes``.
    """
    facts = {
        _LABELS.get(name, _label(name)): _fact(name, value)
        for name, value in values.items()
        if name not in ("input", "target", "cost_model")
    }
    models = simulated(str(values["cost_model"]), str(values["target"]))
    return facts_table(f"{short_name(str(values['input']))}; {models}", facts)


def short_name(path: str) -> str:
    """A name for an input: the last part of its path, without suffixes.

    >>> short_name("workloads/resnet50_b32/"), short_name("a/toy.json.gz")
    ('resnet50_b32', 'toy')
    """
    name = Path(path).name or path
    for suffix in (".gz", ".json", ".hlo", ".txt", ".csv"):
        name = name.removesuffix(suffix)
    return name or path


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """A name for each input; its whole path where two would be called the same."""
    names = {path: short_name(path) for path in paths}
    taken = list(names.values())
    return {
        path: name if taken.count(name) == 1 else path for path, name in names.items()
    }


_FIGURES = ["time", "vs slow", "vs XLA", "bound", "gap", "search", "peak"]
"""The columns of a comparison, but for the choices."""
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
    return "; ".join(parts)


def _choice(row: Record | Mean, varied: Sequence[str]) -> list[str]:
    values = {"strategy": row.strategy, "capacity_bytes": size_text(row.capacity_bytes)}
    return [values[name] for name in varied]


def _time(row: Record) -> str:
    return time_text(row.time_s) if row.answered else row.status


def _figures(row: Record) -> list[str]:
    return [
        _time(row),
        ratio_text(row.speedup_vs_slow),
        ratio_text(row.speedup_vs_xla),
        time_text(row.bound_s),
        _gap(row),
        f"{row.runtime_s:.1f} s",
        size_text(row.peak_bytes),
    ]


def _gap(row: Record) -> str:
    if row.status == Status.OPTIMAL:
        return "optimal"
    return MISSING if row.gap is None else gap_text(row.gap)


def _mean_figures(mean: Mean) -> list[str]:
    def of(count: int) -> str:
        return f" (of {count})" if 0 < count < mean.inputs else ""

    vs_slow = ratio_text(mean.speedup_vs_slow)
    vs_xla = ratio_text(mean.speedup_vs_xla) + of(mean.inputs_vs_xla)
    gap = MISSING if mean.gap is None else gap_text(mean.gap)
    return ["", vs_slow, vs_xla, "", gap + of(mean.inputs_with_gap)]


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


_LABELS = {
    "capacity_bytes": "fast memory",
    "input_bytes": "inputs and constants",
    "temp_bytes": "everything else",
    "peak_live_bytes": "most live at one time",
    "slow_s": "time, all in slow memory",
    "fast_s": "time, all in fast memory, no copies",
    "xla_s": "time, XLA's own answer",
    "xla_valid": "XLA's answer is valid",
    "xla_peak_bytes": "XLA's peak of fast memory",
    "xla_slow_reads": "XLA reads slow despite a ready copy",
    "bufferinfo_rows": "rows of bufferinfo",
    "bufferinfo_matched": "  of them found as read",
    "benefit_rows": "benefits that XLA printed",
    "benefit_within_1pct": "  of them ours to within 1 %",
}
"""What tables call the fields of ``Info``."""


def _label(name: str) -> str:
    return name.removesuffix("_s").removesuffix("_bytes").replace("_", " ")


def _fact(name: str, value: object) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_bytes") and isinstance(value, int):
        return size_text(value)
    if name.endswith("_s") and isinstance(value, float):
        return time_text(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
