"""The scripts that are not run by the commands of the documentation alone."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parents[1] / "scripts"


def answer(name: str, strategy: str, **fields: object) -> dict[str, object]:
    """What the table needs of a row of ``compare --json``."""
    row: dict[str, object] = {"slow_s": 0.004, "xla_s": None, "speedup_vs_xla": None}
    row |= {"input": f"x/{name}", "capacity_bytes": 4096, "strategy": strategy}
    return {**row, "time_s": None, **fields}


def test_the_table_of_benchmarks_shows_what_is_missing_as_a_dash() -> None:
    """4 / 2 = 2, and the mean of 0.5 and 2 is 1; ``b`` has no answer of XLA."""
    table: Any = runpy.run_path(str(SCRIPTS / "benchmark_table.py"))["table"]
    rows = [
        answer("a", "one", xla_s=0.002, time_s=0.004, speedup_vs_xla=0.5),
        answer("b", "one", time_s=0.003),
        answer("c", "one", xla_s=0.002, time_s=0.001, speedup_vs_xla=2.0),
        answer("a", "two", xla_s=0.002),
    ]
    assert table(rows).splitlines() == [
        "| program | all slow, ms | XLA, ms | XLA vs slow | one, ms | one, vs XLA "
        "| two, ms | two, vs XLA |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| a | 4.000 | 2.000 | 2.000 | 4.000 | 0.500 | - | - |",
        "| b | 4.000 | - | - | 3.000 | - | - | - |",
        "| c | 4.000 | 2.000 | 2.000 | 1.000 | 2.000 | - | - |",
        "| **geometric mean** |  |  | **2.000** |  | **1.000** |  | **-** |",
    ]
