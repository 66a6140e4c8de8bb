from __future__ import annotations

import runpy
from pathlib import Path

import pytest


def test_a_row_is_printed_for_each_input(
    root: Path, bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = runpy.run_path(str(root / "scripts" / "bench_static.py"))
    inputs = [root / "examples" / "static" / "sensor.10.csv"]
    inputs.append(bundled / "gcn3_train_n4096")
    script["main"]([*map(str, inputs), "--random", "20", "--time-limit", "5"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[1].split()[:4] == ["sensor.10.csv", "5", "optimal", "10"]
