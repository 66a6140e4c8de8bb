"""Tables for people: what all of them share, and what the command line lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table

from hybridalloc.report.units import MISSING, size_text, time_text
from hybridalloc.report.words import printable
from hybridalloc.target import Target

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


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


def counts_table(counts: Mapping[str, DataclassInstance]) -> Table:
    """A line for each name, with its counts, and whatever else is a ``float``.

    Args:
        counts: At least one; all of one class.
    """
    rows = {name: asdict(x) for name, x in counts.items()}
    table = new_table([""], list(next(iter(rows.values()))))
    for name, row in rows.items():
        cells = (f"{x:,}" if isinstance(x, int) else f"{x:.1e}" for x in row.values())
        table.add_row(name, *cells)
    return table


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
    """A description of an input; nothing of a compiler of which it carries nothing.

    Args:
        values: The fields of ``Info`` by name; units follow from ``_s`` and ``_bytes``.
    """
    facts = {
        _LABELS.get(name, _label(name)): _fact(name, value)
        for name, value in values.items()
        if name not in ("input", "target", "cost_model")
        and not (value is None and name.startswith(_OF_COMPILER))
    }
    models = simulated(str(values["cost_model"]), str(values["target"]))
    return facts_table(f"{short_name(str(values['input']))}; {models}", facts)


def short_name(path: str) -> str:
    """A name for an input: the last part of its path, without suffixes.

    >>> short_name("workloads/resnet50_b32/"), short_name("a/toy.json.gz")
    ('resnet50_b32', 'toy')
    >>> short_name("models/bert.pt2"), short_name("gpt2.onnx")
    ('bert', 'gpt2')
    """
    name = Path(path).name or path
    for suffix in (".gz", ".json", ".hlo", ".txt", ".csv", ".pt2", ".onnx"):
        name = name.removesuffix(suffix)
    return name or path


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """A name for each input; its whole path where two would be called the same."""
    names = {path: short_name(path) for path in paths}
    taken = list(names.values())
    return {
        path: name if taken.count(name) == 1 else path for path, name in names.items()
    }


_OF_COMPILER = ("xla_", "bufferinfo_", "benefit_")
"""How the names of fields begin that are about the compiler and its dump."""
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
