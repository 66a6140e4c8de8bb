"""Turn the output of ``hybridalloc compare ... --json`` into a table in Markdown.

Usage: hybridalloc compare INPUT... --strategies A,B --json | benchmark_table.py

One row a program: its time under each strategy, beside all-slow and the compiler's
own answer, with the speed-up against the latter.
"""

import json
import math
import sys
from pathlib import PurePath
from typing import Any

Rows = list[dict[str, Any]]


def geometric_mean(values: list[float]) -> float:
    """The geometric mean of at least one positive number."""
    return math.exp(sum(map(math.log, values)) / len(values))


def line(cells: list[str]) -> str:
    """A row of the table."""
    return f"| {' | '.join(cells)} |"


rows: Rows = json.load(sys.stdin)
strategies = list(dict.fromkeys(row["strategy"] for row in rows))
programs: dict[str, Rows] = {}
for row in rows:
    programs.setdefault(PurePath(row["input"]).name, []).append(row)
head = ["program", "all slow, ms", "XLA, ms", "XLA vs slow"]
head += [f"{name}, {unit}" for name in strategies for unit in ("ms", "vs XLA")]
print(line(head))
print(line(["---", *["---:"] * (len(head) - 1)]))
ratios: list[list[float]] = []
for program, answers in programs.items():
    slow_s, xla_s = answers[0]["slow_s"], answers[0]["xla_s"]
    ratios.append([slow_s / xla_s, *(xla_s / row["time_s"] for row in answers)])
    cells = [program, f"{slow_s * 1e3:.3f}", f"{xla_s * 1e3:.3f}"]
    cells.append(f"{ratios[-1][0]:.3f}")
    for row, ratio in zip(answers, ratios[-1][1:], strict=True):
        cells += [f"{row['time_s'] * 1e3:.3f}", f"{ratio:.3f}"]
    print(line(cells))
means = [geometric_mean(list(column)) for column in zip(*ratios, strict=True)]
cells = ["**geometric mean**", "", "", f"**{means[0]:.3f}**"]
for mean in means[1:]:
    cells += ["", f"**{mean:.3f}**"]
print(line(cells))
