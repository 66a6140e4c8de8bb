"""Draw the pictures of the handbook: `python scripts/draw_figures.py OUT`."""

from __future__ import annotations

import argparse
from pathlib import Path

from hybridalloc.io.json_format import read_map
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.report.picture import draw

TINY = Path(__file__).parents[1] / "examples" / "tiny"
MAPS = ("produced", "prefetched", "best")


def main(out: Path) -> None:
    """Draw the tiny program with nothing in fast memory, and under each map of it."""
    out.mkdir(parents=True, exist_ok=True)
    problem = read_problem(TINY / "tiny.json")
    draw(problem, MemoryMap(), out / "tiny-slow.svg")
    for name in MAPS:
        found = read_map(TINY / f"{name}.json", problem)
        draw(problem, found, out / f"tiny-{name}.svg")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder, such as docs/figures")
    main(parser.parse_args().out)
