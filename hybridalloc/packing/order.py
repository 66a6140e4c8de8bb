"""In which order blocks are placed."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.packing.kernel import UNBOUNDED, Blocks
from hybridalloc.packing.profile import live_profile, most_within


class Order(StrEnum):
    """What is placed first; what ties goes by size, largest first, then by index."""

    SIZE = "size"
    """The largest."""
    DURATION = "duration"
    """What is there for the most instructions, on average over its bytes."""
    AREA = "area"
    """The largest size x duration."""
    CONFLICTS = "conflicts"
    """What is there together with the most others."""
    CONFLICT_BYTES = "conflict_bytes"
    """What is there together with the most bytes of others."""
    CONFLICT_AREA = "conflict_area"
    """The largest size x bytes of others that are there with it."""
    BREADTH = "breadth"
    """What is there when the most bytes are live, as TensorFlow Lite's greedy by
    breadth (Pisarchyk and Lee, arXiv 2001.03288)."""
    REPACKER = "repacker"
    """What is there the longest from its first start to its last end, as XLA's
    best-fit repacker."""


def sort(blocks: Blocks, order: Order) -> Ints:
    """The blocks in an order, the first to be placed first.

    Args:
        blocks: What is to be placed.
        order: Which comes first.

    Returns:
        (blocks,): indices.
    """
    return np.lexsort((-blocks.top, -_weight(blocks, order)))


def _weight(blocks: Blocks, order: Order) -> Floats:
    """(blocks,): the largest comes first."""
    size, (start, end) = blocks.top.astype(np.float64), _hulls(blocks)
    match order:
        case Order.SIZE:
            return size
        case Order.DURATION:
            return _areas(blocks) / np.maximum(size, 1.0)
        case Order.AREA:
            return _areas(blocks)
        case Order.CONFLICTS:
            return _together(np.ones_like(size), start, end)
        case Order.CONFLICT_BYTES:
            return _together(size, start, end)
        case Order.CONFLICT_AREA:
            return _together(size, start, end) * size
        case Order.BREADTH:
            return _breadths(blocks, start, end).astype(np.float64)
        case Order.REPACKER:
            return (end - start).astype(np.float64)


def _hulls(blocks: Blocks) -> tuple[Ints, Ints]:
    """(blocks,) each: first start and last end; both 0 where nothing is taken."""
    owner = _owners(blocks)
    start = np.full(len(blocks.top), UNBOUNDED)
    end = np.zeros(len(blocks.top), np.int64)
    np.minimum.at(start, owner, blocks.rectangles[2])
    np.maximum.at(end, owner, blocks.rectangles[3])
    return np.minimum(start, end), end


def _areas(blocks: Blocks) -> Floats:
    """(blocks,): bytes x instructions."""
    low, high, start, end = blocks.rectangles.astype(np.float64)
    areas = (high - low) * (end - start)
    return np.bincount(_owners(blocks), areas, len(blocks.top)).astype(np.float64)


def _owners(blocks: Blocks) -> Ints:
    """(rectangles,): the block of each."""
    return np.repeat(np.arange(len(blocks.top)), np.diff(blocks.first))


def _together(weights: Floats, start: Ints, end: Ints) -> Floats:
    """(blocks,): the weights of all that are there with each, itself included."""
    begun, ended = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    until = np.concatenate(([0.0], np.cumsum(weights[begun])))
    gone = np.concatenate(([0.0], np.cumsum(weights[ended])))
    last = np.searchsorted(start[begun], end, side="left")
    return until[last] - gone[np.searchsorted(end[ended], start, side="right")]


def _breadths(blocks: Blocks, start: Ints, end: Ints) -> Ints:
    """(blocks,): the most bytes that are live at a time while each is there."""
    low, high, starts, ends = blocks.rectangles
    points, live = live_profile(high - low, starts, ends)
    return most_within(
        live, np.searchsorted(points, start), np.searchsorted(points, end)
    )
