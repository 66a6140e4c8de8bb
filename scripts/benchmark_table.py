"""Turn the output of ``hybridalloc compare ... --json`` into a table in Markdown.

Usage: hybridalloc compare INPUT... --strategies A,B --json | benchmark_table.py

One row a program and capacity: the times of all-slow and of the compiler's own answer,
and each strategy's speed-up against the latter; ``-`` for what is missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import PurePath
from typing import Any

from hybridalloc.report.records import geometric_mean

Row = dict[str, Any]
"""One answer; its keys are the fields of ``hybridalloc.report.records.Record``."""


def table(rows: list[Row]) -> str:
    """The table, with geometric means of the ratios as its last line."""
    strategies = list(dict.fromkeys(row["strategy"] for row in rows))
    cases: dict[tuple[str, int], dict[str, Row]] = {}
    for row in rows:
        case = cases.setdefault((row["input"], row["capacity_bytes"]), {})
        case[row["strategy"]] = row
    head = ["program", "all slow, ms", "XLA, ms", "XLA vs slow"]
    head += [f"{name} vs XLA" for name in strategies]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    ratios: list[list[float | None]] = []
    for (path, _), answers in cases.items():
        first = next(iter(answers.values()))
        slow_s, xla_s = first["slow_s"], first["xla_s"]
        given = [answers.get(name, {}) for name in strategies]
        xla_vs_slow = slow_s / xla_s if xla_s else None
        ratios.append([xla_vs_slow, *(row.get("speedup_vs_xla") for row in given)])
        cells = [milliseconds(slow_s), milliseconds(xla_s), figure(xla_vs_slow)]
        cells += [figure(row.get("speedup_vs_xla")) for row in given]
        lines.append([PurePath(path).name, *cells])
    lines.append(mean_line(ratios))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def mean_line(ratios: list[list[float | None]]) -> list[str]:
    """The cells of the last line: the mean of each column of ratios, where known."""
    cells = ["**geometric mean**", "", ""]
    for column in zip(*ratios, strict=True):
        mean = geometric_mean(ratio for ratio in column if ratio is not None)
        cells.append(f"**{figure(mean)}**")
    return cells


def milliseconds(seconds: float | None) -> str:
    """A time, given in seconds."""
    return figure(None if seconds is None else seconds * 1e3)


def figure(value: float | None) -> str:
    """A number with three decimals, or ``-``."""
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    sys.stdout.write(table(json.load(sys.stdin)))
