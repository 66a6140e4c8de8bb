"""One search that can go on where it stopped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.static.branch_and_bound.kernel import begin, search
from hybridalloc.baselines.static.branch_and_bound.sections import Sections
from hybridalloc.baselines.static.branch_and_bound.tree import (
    COMPONENT_COUNT,
    FAILED,
    FLOOR_COUNT,
    FOUND,
    GOING_ON,
    LOW_COUNT,
    POOL_COUNT,
    UNPLACED,
    Tree,
)
from hybridalloc.static.problem import StaticBuffer

REMAINING = "T"
"""The key that changes during the search: what is still to be placed meanwhile."""


class Descent:
    """A search for one order of the buffers."""

    def __init__(self, sections: Sections, keys: Ints) -> None:
        """Begin a search.

        Args:
            sections: The problem.
            keys: (keys, n): by which buffers are ranked, as ``keys_of`` says.
        """
        self._sections = sections
        self._tree = _tree(sections, keys)
        self.status = GOING_ON
        """What is known so far."""
        if (self._tree.lows + sections.sizes > sections.limits).any():
            self.status = FAILED
        else:
            begin(sections, self._tree)

    @property
    def is_done(self) -> bool:
        """Whether it is known if there are offsets."""
        return self.status != GOING_ON

    @property
    def offsets(self) -> Ints | None:
        """(n,): in units, if some were found."""
        return self._tree.offsets if self.status == FOUND else None

    def go_on(self, nodes: int) -> None:
        """Visit more nodes, if anything is left to know."""
        if self.status != GOING_ON:
            return
        self.status = search(self._sections, self._tree, nodes)
        if self.status == GOING_ON:
            self._tree = _with_room(self._tree)


def keys_of(buffers: Sequence[StaticBuffer], sizes: Ints, order: str) -> Ints:
    """(keys, n): the numbers by which an order ranks buffers, the largest first.

    Args:
        buffers: What to rank.
        sizes: (n,): their sizes, in units.
        order: The keys' letters, the first most important: width ``W``, area ``A``,
            size ``Z``, or the most that is still to be placed at a time of its life,
            ``T``.

    >>> keys_of([StaticBuffer("b", 8, 0, 3)], np.array([2]), "WAT")
    array([[ 3],
           [ 6],
           [-1]])
    """
    widths = np.array([x.end - x.start for x in buffers], np.int64)
    known = {
        "W": widths,
        "A": widths * sizes,
        "Z": sizes,
        REMAINING: np.full(len(buffers), -1, np.int64),
    }
    return np.stack([known[key] for key in order])


def _tree(sections: Sections, keys: Ints) -> Tree:
    """The state before the search begins."""
    n, count = len(sections.sizes), len(sections.first_member) - 1
    totals = np.zeros(count, np.int64)
    where = np.repeat(np.arange(count), np.diff(sections.first_member))
    np.add.at(totals, where, sections.sizes[sections.members])
    crossing = np.zeros(count + 1, np.int64)
    np.add.at(crossing, sections.spans[0], 1)
    np.add.at(crossing, sections.spans[1] - 1, -1)
    return Tree(
        offsets=np.full(n, UNPLACED, np.int64),
        lows=np.maximum(sections.fixed, 0),
        floors=np.zeros(count, np.int64),
        totals=totals,
        cuts=np.cumsum(crossing)[:count].copy(),
        frames=np.zeros((10, n + 2), np.int64),
        components=np.zeros((6, 4 * n + 16), np.int64),
        pool=np.zeros(8 * n + 16, np.int64),
        low_trail=np.zeros((2, 8 * n + 16), np.int64),
        floor_trail=np.zeros((2, 16 * count + 16), np.int64),
        keys=keys,
        counters=np.zeros(5, np.int64),
        stamps=np.zeros(count + 1, np.int64),
    )


def _with_room(tree: Tree) -> Tree:
    """The same state, with twice the room wherever half of it is taken."""
    taken = {
        "components": tree.counters[COMPONENT_COUNT],
        "pool": tree.counters[POOL_COUNT],
        "low_trail": tree.counters[LOW_COUNT],
        "floor_trail": tree.counters[FLOOR_COUNT],
    }
    rooms = {name: getattr(tree, name) for name in taken}
    larger = {
        name: np.concatenate((room, np.zeros_like(room)), axis=-1)
        for name, room in rooms.items()
        if 2 * taken[name] > room.shape[-1]
    }
    return tree._replace(**larger)
