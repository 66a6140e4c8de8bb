"""Print how long a problem takes to read, and the simulator's evaluations a second.

Usage: bench_simulator.py [PROBLEM], by default a synthetic one.
"""

import sys
import timeit

import numpy as np

from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Program
from hybridalloc.simulator import Simulator
from hybridalloc.target import TARGETS

SIZE = 1 << 20


def synthetic() -> Problem:
    """1,000 instructions with five accesses each, to 500 buffers."""
    rng = np.random.default_rng(0)
    touched = [rng.choice(500, 5, replace=False).tolist() for _ in range(1000)]
    instructions = tuple(
        Instruction(f"i{t}", rng.uniform(0, 1e-5), tuple(Access(b, SIZE) for b in some))
        for t, some in enumerate(touched)
    )
    buffers = tuple(Buffer(f"b{i}", SIZE, is_input=True) for i in range(500))
    return Problem(Program("synthetic", instructions, buffers), TARGETS["tpu-v4i"])


def random_map(problem: Problem) -> MemoryMap:
    """500 allocations with a prefetch, and an eviction where there is time for one."""
    rng, last = np.random.default_rng(0), len(problem.program)
    made = []
    for buffer in rng.integers(len(problem.program.buffers), size=500).tolist():
        start = int(rng.integers(last))
        ready, end = min(start + 5, last), min(start + 40, last)
        out = Eviction(ready + 1, end) if ready + 1 < end and buffer % 2 else None
        made.append(
            Allocation(buffer, 0, start, end, Origin.PREFETCHED, ready, (), out)
        )
    return MemoryMap(tuple(made))


begin = timeit.default_timer()
problem = read_problem(sys.argv[1]) if len(sys.argv) > 1 else synthetic()
print(f"read in {timeit.default_timer() - begin:.1f} s")
begin = timeit.default_timer()
simulator = Simulator(problem)
arrays = simulator.encode(problem.compiler_map or random_map(problem))
simulator.evaluate(arrays)
print(f"ready in {timeit.default_timer() - begin:.1f} s")
seconds = timeit.repeat(lambda: simulator.evaluate(arrays), number=1000, repeat=10)
print(
    f"{problem.program.name}: {len(problem.program)} instructions, "
    f"{arrays.buffer.size} allocations, {arrays.copy_bytes.size} copies: "
    f"{1000 / np.median(seconds):,.0f} evaluations/s (best {1000 / min(seconds):,.0f})"
)
