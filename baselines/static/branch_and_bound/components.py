"""Components: what is left to place, in parts that do not meet in time; compiled."""

from __future__ import annotations

import numpy as np

from hybridalloc.baselines.static.branch_and_bound.sections import Sections
from hybridalloc.baselines.static.branch_and_bound.tree import (
    COMPONENT_COUNT,
    FIRST,
    LAST,
    LEFT,
    MAKER,
    NEXT,
    POOL_COUNT,
    RIGHT,
    UNPLACED,
    Tree,
)
from hybridalloc.jit import compiled


@compiled
def divide(
    sections: Sections,
    tree: Tree,
    whole: tuple[int, int, int, int],
    after: int,
    maker: int,
) -> None:
    """Make components of what is not placed, between the cuts that nothing crosses.

    Args:
        sections: The problem.
        tree: The search.
        whole: Its part of the pool and its sections, both half-open.
        after: The component to solve when all these are done.
        maker: The frame that makes them.
    """
    first, last, left, right = whole
    counters = tree.counters
    start = left
    made = counters[COMPONENT_COUNT]
    for s in range(left, right):
        if s + 1 < right and tree.cuts[s] > 0:
            continue
        count = counters[POOL_COUNT]
        for i in range(first, last):
            buffer = tree.pool[i]
            home = sections.spans[0, buffer]
            if tree.offsets[buffer] == UNPLACED and start <= home <= s:
                tree.pool[count] = buffer
                count += 1
        if count > counters[POOL_COUNT]:
            part = tree.components[:, counters[COMPONENT_COUNT]]
            part[FIRST], part[LAST] = counters[POOL_COUNT], count
            part[LEFT], part[RIGHT], part[MAKER] = start, s + 1, maker
            part[NEXT] = counters[COMPONENT_COUNT] + 1
            _rank(sections, tree, part[FIRST], part[LAST])
            counters[POOL_COUNT] = count
            counters[COMPONENT_COUNT] += 1
        start = s + 1
    if counters[COMPONENT_COUNT] > made:
        tree.components[NEXT, counters[COMPONENT_COUNT] - 1] = after


@compiled
def _rank(sections: Sections, tree: Tree, first: int, last: int) -> None:
    """Sort a part of the pool by the keys, the largest first."""
    own = tree.pool[first:last].copy()
    own.sort()
    for k in range(len(tree.keys) - 1, -1, -1):
        values = np.empty(len(own), np.int64)
        for i in range(len(own)):
            values[i] = -tree.keys[k, own[i]]
            if values[i] > 0:
                values[i] = -_pressure(sections, tree, own[i])
        own = own[np.argsort(values, kind="mergesort")]
    tree.pool[first:last] = own


@compiled
def _pressure(sections: Sections, tree: Tree, buffer: int) -> int:
    """The most that is still to be placed at a time of a buffer's life."""
    most = 0
    for i in range(sections.first_home[buffer], sections.first_home[buffer + 1]):
        most = max(most, tree.totals[sections.homes[i]])
    return most
