"""How many bytes are live, instruction by instruction."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints


def live_profile(sizes: Ints, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The bytes that are live between any two points at which that changes.

    Args:
        sizes: (stays,): bytes.
        starts: (stays,): the first instruction of each.
        ends: (stays,): the instruction after its last.

    Returns:
        (points,): the points, ascending; and (points,): the bytes from each to the
        next, 0 from the last.
    """
    points, at = np.unique(np.concatenate((starts, ends)), return_inverse=True)
    changes = np.zeros(len(points), np.int64)
    np.add.at(changes, at.ravel(), np.concatenate((sizes, -sizes)))
    return points, np.cumsum(changes)


def most_within(values: Ints, starts: Ints, ends: Ints) -> Ints:
    """The largest value of each half-open range; 0 if it lies beyond the values.

    Args:
        values: (instructions,): none negative.
        starts: (ranges,): the first index of each.
        ends: (ranges,): the index after its last.

    >>> most_within(np.array([3, 1, 4, 1]), np.array([0, 1]), np.array([2, 9])).tolist()
    [3, 4]
    """
    ends = np.minimum(ends, len(values))
    lengths = ends - starts
    most = np.zeros(len(starts), np.int64)
    width, widest = 1, values
    while len(widest):
        # two ranges of this width, perhaps overlapping, cover the longer ones
        some = np.flatnonzero((lengths >= width) & (lengths < 2 * width))
        most[some] = np.maximum(widest[starts[some]], widest[ends[some] - width])
        widest = np.maximum(widest[:-width], widest[width:])
        width *= 2
    return most
