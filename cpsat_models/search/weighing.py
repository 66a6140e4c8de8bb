"""What stays are taken to cost, where one of several is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.baselines.moves import Weights
from hybridalloc.cost_model import compile_costs
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.stays import Stay

WEIGHTS = Weights()


def costs(problem: Problem, stays: Sequence[Stay]) -> Floats:
    """(stays,): what each costs: by its size, how long it lasts and its copies."""
    instructions, slow = compile_costs(problem), problem.target.slow
    slow_s = np.maximum(instructions.compute_s, instructions.all_slow_s)
    slow_s = np.maximum(slow_s, instructions.empty_s)
    time = np.concatenate(([0.0], np.cumsum(slow_s * instructions.runs)))
    total = time[-1] or 1.0
    size = np.array([problem.program.buffers[x.buffer].size for x in stays], float)
    begin = time[np.array([x.start for x in stays], dtype=np.int64)]
    end = time[np.array([x.end for x in stays], dtype=np.int64)]
    span = np.maximum(end - begin, total / (1000 * len(slow_s))) / total
    loops = Loops(problem.program)
    trips = np.array([max(1.0, loops.trips(x.body)) for x in stays])
    fetches = np.array([not x.produced for x in stays], float)
    evicts = np.array([x.evicts for x in stays], float)
    work = fetches * size / slow.read_bandwidth + evicts * size / slow.write_bandwidth
    share = np.maximum(size, 1.0) / problem.target.capacity
    cost: Floats = share**WEIGHTS.size * span**WEIGHTS.span
    cost += WEIGHTS.copies * work * trips / total
    return cost
