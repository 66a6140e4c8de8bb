"""Branch and bound: several searches in turn, each with its own order of buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from hybridalloc.baselines.static.branch_and_bound.descent import Descent, keys_of
from hybridalloc.baselines.static.branch_and_bound.rotation import rotate
from hybridalloc.baselines.static.branch_and_bound.sections import sections_of
from hybridalloc.solver import Run
from hybridalloc.static.problem import StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement
from hybridalloc.static.units import Units, units_for

NAME = "branch-and-bound"
ORDERS = ("TAW", "TWA", "WAT")
"""minimalloc's."""
NOISE = 0.3
"""By which part the numbers of a further order differ at most from these."""


@dataclass(frozen=True, slots=True)
class BranchAndBoundOptions:
    """The options of the branch and bound."""

    most_buffers: int = 4000
    """Larger problems are left to others: a node takes time that grows with them."""
    first_nodes: int = 20_000
    """The nodes that each order has at first; twice as many each further time."""

    def __post_init__(self) -> None:
        if self.first_nodes < 1:
            raise ValueError(f"first_nodes {self.first_nodes} is not >= 1")


class BranchAndBound:
    """Canonical placements, depth first; complete where buffers have no windows."""

    def __init__(self, config: BranchAndBoundOptions | None = None) -> None:
        self.config = config or BranchAndBoundOptions()

    def solve(self, problem: StaticProblem, run: Run) -> Placement:
        """Look for offsets within the capacity, or a proof that there are none."""
        live = [i for i, x in enumerate(problem.buffers) if x.rectangles]
        if problem.has_windows or len(live) > self.config.most_buffers:
            return UNDECIDED
        offsets = [x.offset or 0 for x in problem.buffers]
        if live:
            kept = replace(problem, buffers=tuple(problem.buffers[i] for i in live))
            kept = replace(kept, capacity=problem.room)
            units = units_for(kept)
            descents = _descents(kept, units, run.seed)
            found = rotate(descents, self.config.first_nodes, run)
            if found is None:
                return UNDECIDED
            if found.offsets is None:
                return Placement(is_impossible=True, found_by=NAME)
            for i, offset in zip(live, found.offsets.tolist(), strict=True):
                offsets[i] = offset * units.unit
        return Placement(tuple(offsets), found_by=NAME)


def _descents(problem: StaticProblem, units: Units, seed: int) -> Iterator[Descent]:
    """Searches without end: first the known orders, then these with noise."""
    sections = sections_of(problem, units)
    for order in ORDERS:
        keys = keys_of(problem.buffers, sections.sizes, order)
        yield Descent(sections, keys)
    generator = np.random.default_rng(seed)
    for i in count():
        keys = keys_of(problem.buffers, sections.sizes, ORDERS[i % len(ORDERS)])
        noise = generator.uniform(1 - NOISE, 1 + NOISE, keys.shape)
        noisy = np.where(keys < 0, keys, (keys * noise).astype(np.int64))
        yield Descent(sections, noisy)
