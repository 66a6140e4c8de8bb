"""Write CSV files of random buffers, for `hybridalloc bench` to show how time grows.

Half of the buffers are of any size, half of a power of two times 4 KiB. Of so many
buffers, one file has short lives, up to 200 of two instants a buffer, and one has heavy
ones, of a Pareto distribution.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hybridalloc.io.minimalloc import write_buffers
from hybridalloc.static.problem import StaticBuffer, StaticProblem


def main(arguments: Sequence[str] | None = None) -> None:
    """Write two files for each number of buffers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", nargs="+", type=int, metavar="N")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    for count in given.counts:
        for name, is_heavy in (("short", False), ("heavy", True)):
            problem = random_problem(count, is_heavy=is_heavy)
            write_buffers(given.out / f"{name}_{count}.csv", problem)


def random_problem(count: int, *, is_heavy: bool, seed: int = 3) -> StaticProblem:
    """Random buffers.

    Args:
        count: How many.
        is_heavy: Whether some live very long; else all live shortly.
        seed: Of the generator.
    """
    generator = np.random.default_rng(seed)
    starts = generator.integers(0, 2 * count, count)
    lives = generator.integers(1, 200, count)
    if is_heavy:
        tail = (generator.pareto(1.1, count) * 5).astype(np.int64)
        lives = np.minimum(1 + tail, 2 * count)
    sizes = np.where(
        generator.random(count) < 0.5,
        256 * generator.integers(1, 64, count),
        4096 * 2 ** generator.integers(0, 8, count),
    )
    rows = zip(sizes.tolist(), starts.tolist(), lives.tolist(), strict=True)
    buffers = tuple(
        StaticBuffer(f"b{i}", size, start, start + life)
        for i, (size, start, life) in enumerate(rows)
    )
    return StaticProblem("random", buffers)


if __name__ == "__main__":
    main()
