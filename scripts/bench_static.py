"""Static allocation: the capacity reached, its ratio to the maximum load, and seconds.

Of CSV files of buffers, each at its own capacity; of programs, the least capacity for
their temporaries; and of random buffers, how time grows with their number.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from hybridalloc.io.minimalloc import is_csv, read_buffers
from hybridalloc.io.read import read_problem
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.solving import solve_static
from hybridalloc.static.temporaries import temporaries


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="*", type=Path, help="CSV files or programs")
    parser.add_argument("--random", nargs="*", type=int, default=[], metavar="N")
    parser.add_argument("--strategy", default="race")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    print(f"{'input':32} {'n':>6} status     reached  ratio   CPU s  wall s  found by")
    for problem in _problems(given.inputs, given.random):
        cpu = time.process_time()
        answer = solve_static(
            problem,
            given.strategy,
            time_limit=given.time_limit,
            workers=given.workers,
        )
        cpu = time.process_time() - cpu
        ratio = "-" if answer.ratio is None else f"{answer.ratio:.5f}"
        print(
            f"{problem.name:32} {len(problem):6} {answer.status:10} "
            f"{answer.peak_bytes} {ratio} {cpu:7.2f} {answer.runtime:7.2f}  "
            f"{answer.found_by}",
            flush=True,
        )


def _problems(paths: Sequence[Path], counts: Sequence[int]) -> Iterator[StaticProblem]:
    for path in paths:
        yield read_buffers(path) if is_csv(path) else temporaries(read_problem(path))
    for count in counts:
        for is_heavy in (False, True):
            yield random_problem(count, is_heavy=is_heavy)


def random_problem(count: int, *, is_heavy: bool, seed: int = 3) -> StaticProblem:
    """Random buffers: half of any size, half of a power of two times 4 KiB.

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
    return StaticProblem(f"random {'heavy' if is_heavy else 'short'}", buffers)


if __name__ == "__main__":
    main()
