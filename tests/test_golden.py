"""Figures of the bundled programs, written down once.

Whoever changes a judge or a reader on purpose renews them with
``python tests/test_golden.py`` and explains the difference.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from hybridalloc.info import describe

GOLDEN = Path(__file__).parent / "golden" / "info.json"
WORKLOADS = Path(__file__).parents[1] / "examples" / "workloads"


def figures() -> dict[str, dict[str, float]]:
    """The figures that ``info`` gives of each program under each cost model."""
    return {
        f"{folder.name} {cost_model}": {
            name: figure
            for name, figure in asdict(describe(folder, cost_model=cost_model)).items()
            if isinstance(figure, int | float)
        }
        for folder in sorted(WORKLOADS.iterdir())
        if folder.is_dir()
        for cost_model in ("roofline", "cycles")
    }


def test_the_figures_of_the_bundled_programs_are_those_written_down() -> None:
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = figures()
    assert list(found) == list(expected)
    for name, its_figures in found.items():
        assert its_figures == pytest.approx(expected[name], rel=1e-9), name


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(figures(), indent=2) + "\n", encoding="utf-8")
