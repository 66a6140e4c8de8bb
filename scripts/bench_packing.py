"""Print how fast blocks are packed and how high, and what repacking makes of maps.

Usage: bench_packing.py [WORKLOAD | BLOCKS.csv]..., by default synthetic blocks only.
Workloads are folders with the compiler's own map; the columns of a CSV file are lower
and upper (instructions) and size (bytes).
"""

import csv
import math
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

from hybridalloc.io.read import read_problem
from hybridalloc.packing.block import Block
from hybridalloc.packing.maps import repack_map
from hybridalloc.packing.occupancy import occupancy
from hybridalloc.packing.order import Order
from hybridalloc.packing.pack import Fit, Packer, pack
from hybridalloc.packing.repack import repack
from hybridalloc.target import MemorySpace

MEMORY = MemorySpace("fast", 1.0, 1.0)
SECONDS = (1, 10)
MIB = 2**20


def synthetic(count: int) -> list[Block]:
    """Hundreds of blocks at a time, few of them large, in units of 4096 bytes."""
    rng = np.random.default_rng(0)
    starts = rng.integers(0, count, count).tolist()
    lengths = (1 + rng.exponential(300, count)).astype(int).tolist()
    units = (1 + rng.pareto(1.0, count).clip(0, 1000)).astype(int).tolist()
    return [
        Block(((0, 4096 * size, start, start + length),))
        for start, length, size in zip(starts, lengths, units, strict=True)
    ]


def from_csv(path: Path) -> list[Block]:
    """A block for each row."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        Block(((0, int(row["size"]), int(row["lower"]), int(row["upper"])),))
        for row in rows
    ]


def show_blocks(name: str, blocks: list[Block]) -> None:
    """One line for each order and fit, and for each search; peaks over the bound."""
    packer = Packer(blocks, MEMORY)
    print(f"{name}: {len(blocks)} blocks, bound {packer.bound() / MIB:.2f} MiB")
    for order, fit in product(Order, Fit):
        begin = time.perf_counter()
        packer.place(packer.sort(order), fit)
        seconds = time.perf_counter() - begin
        offsets = packer.place(packer.sort(order), fit)
        ratio = packer.peak(offsets) / packer.bound()
        print(f"  {order:15} {fit:6} {ratio:.4f}  {1000 * seconds:8.2f} ms")
    for seconds in SECONDS:
        begin = time.monotonic()
        found = repack(
            blocks,
            MEMORY,
            rng=np.random.default_rng(0),
            deadline=begin + seconds,
            iterations=None,
        )
        tops = [x + b.size for x, b in zip(found, blocks, strict=True) if x is not None]
        ratio = max(tops) / packer.bound() if len(tops) == len(blocks) else math.inf
        print(f"  repack {seconds:2} s           {ratio:.4f}", end="")
        print(f"  {1000 * (time.monotonic() - begin):8.0f} ms")


def show_map(path: Path) -> None:
    """The compiler's map before and after, and the most bytes that it holds."""
    problem = read_problem(path)
    if problem.compiler_map is None:
        print(f"{path.name}: no map of the compiler")
        return
    used = [occupancy(problem.program, problem.compiler_map)]
    for seconds in SECONDS:
        deadline = time.monotonic() + seconds
        found = repack_map(
            problem, problem.compiler_map, deadline=deadline, iterations=None
        )
        if found is not None:
            used.append(occupancy(problem.program, found))
    peaks = " -> ".join(f"{one.peak_bytes / MIB:.3f}" for one in used)
    lost = " -> ".join(f"{one.fragmentation:.4f}" for one in used)
    print(
        f"{path.name}: {len(problem.compiler_map)} allocations, peak {peaks} MiB",
        end="",
    )
    print(f", held {used[0].held_bytes / MIB:.3f} MiB, fragmentation {lost}")


pack(synthetic(10), MEMORY)  # compiles
for number in () if sys.argv[1:] else (1_000, 10_000):
    show_blocks("synthetic", synthetic(number))
for argument in map(Path, sys.argv[1:]):
    if argument.suffix == ".csv":
        show_blocks(argument.stem, from_csv(argument))
    else:
        show_map(argument)
