"""The state of a search, in arrays."""

from __future__ import annotations

from typing import NamedTuple

from hybridalloc.arrays import Ints

UNPLACED = -1
NOTHING = -1
"""Instead of an index."""
FAR = 2**62
"""Above every memory."""
FAILED, FOUND, GOING_ON = 0, 1, 2
"""What is known after some nodes: there is no placement, there is one, or neither."""
COMPONENT, AT, RANK, PLACED, IS_BARE, PARENT = range(6)
"""The rows of a frame: its component; the offset and rank of what is placed there, or
was last; the buffer placed, and whether nothing is left to place above it; the frame to
go back to."""
LOWS, FLOORS, COMPONENTS, POOL = range(6, 10)
"""The rest of them: how much there was of each of these before."""
FIRST, LAST, LEFT, RIGHT, NEXT, MAKER = range(6)
"""The rows of a component: its part of the pool and its sections, both half-open, the
component to solve after it, and the frame that made it."""
DEPTH, LOW_COUNT, FLOOR_COUNT, COMPONENT_COUNT, POOL_COUNT = range(5)
"""Of the counters."""


class Tree(NamedTuple):
    """The state of a search, which can go on where it stopped."""

    offsets: Ints
    """(n,): in units, or -1."""
    lows: Ints
    """(n,): the least offset that what is placed allows each buffer."""
    floors: Ints
    """(sections,): from where what is not placed can be."""
    totals: Ints
    """(sections,): the sizes of what is not placed."""
    cuts: Ints
    """(sections,): what is live in each and the next one and not placed."""
    frames: Ints
    """(10, n + 2)"""
    components: Ints
    """(6, enough)"""
    pool: Ints
    """The buffers of all components, each in the order of its ranks."""
    low_trail: Ints
    """(2, enough): buffers, and what their least offsets were."""
    floor_trail: Ints
    """(2, enough): sections, and what their floors were."""
    keys: Ints
    """(keys, n): by which buffers are ranked, largest first; -1 for the most bytes
    that are still to be placed at a time of their lives."""
    counters: Ints
    """(5,)"""
    stamps: Ints
    """(sections + 1,): the last node at which each was looked at, and the node."""
