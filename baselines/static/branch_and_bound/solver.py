"""Branch and bound: several searches in turn, each with its own order of buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from hybridalloc.baselines.static.branch_and_bound.descent import Descent, keys_of
from hybridalloc.baselines.static.branch_and_bound.rotation import rotate
from hybridalloc.baselines.static.branch_and_bound.sections import sections_of
from hybridalloc.static.load import unit_of
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement, StaticRun

NAME = "branch-and-bound"
ORDERS = ("TAW", "TWA", "WAT")
"""minimalloc's."""
NOISE = 0.3
"""By which part the numbers of a further order differ at most from these."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the branch and bound."""

    most_buffers: int = 4000
    """Larger problems are left to others: a node takes time that grows with them."""
    first_nodes: int = 20_000
    """The nodes that each order has at first; twice as many each further time."""


class BranchAndBound:
    """Canonical placements, depth first; complete where buffers have no windows."""

    def __init__(self, config: Options | None = None) -> None:
        self._options = config or Options()

    def solve(self, problem: StaticProblem, run: StaticRun) -> Placement:
        """Look for offsets within the capacity, or a proof that there are none."""
        live = [i for i, x in enumerate(problem.buffers) if x.rectangles]
        if problem.has_windows or len(live) > self._options.most_buffers:
            return UNDECIDED
        unit = unit_of(problem)
        offsets = [x.offset or 0 for x in problem.buffers]
        if live:
            kept = [problem.buffers[i] for i in live]
            descents = _descents(kept, unit, problem.room // unit, run.seed)
            found = rotate(descents, self._options.first_nodes, run)
            if found is None or found.offsets is None:
                return Placement(is_impossible=found is not None, found_by=NAME)
            for i, offset in zip(live, found.offsets.tolist(), strict=True):
                offsets[i] = offset * unit
        return Placement(tuple(offsets), found_by=NAME)


def _descents(
    buffers: Sequence[StaticBuffer], unit: int, capacity: int, seed: int
) -> Iterator[Descent]:
    """Searches without end: first the known orders, then these with noise."""
    sections = sections_of(buffers, unit)
    for order in ORDERS:
        yield Descent(sections, keys_of(buffers, unit, order), capacity)
    generator = np.random.default_rng(seed)
    for i in count():
        keys = keys_of(buffers, unit, ORDERS[i % len(ORDERS)])
        noise = generator.uniform(1 - NOISE, 1 + NOISE, keys.shape)
        noisy = np.where(keys < 0, keys, (keys * noise).astype(np.int64))
        yield Descent(sections, noisy, capacity)
