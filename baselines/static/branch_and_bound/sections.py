"""The sections of a problem, as arrays for the inner loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.units import Units


class Sections(NamedTuple):
    """Spans of time in which the same buffers are live, and who meets whom.

    Lists of lists are flat, with the first entry of each list in ``first_...``.
    """

    sizes: Ints
    """(n,): in units."""
    limits: Ints
    """(n,): where each ends at most, in units."""
    alignments: Ints
    """(n,): in units."""
    fixed: Ints
    """(n,): the only offset, or -1."""
    spans: Ints
    """(2, n): the first section of each buffer, and the last + 1."""
    ceilings: Ints
    """(sections,): where what takes space in each ends at most, in units."""
    first_member: Ints
    """(sections + 1,)"""
    members: Ints
    """The buffers that take space in each section."""
    first_home: Ints
    """(n + 1,)"""
    homes: Ints
    """The sections in which each buffer takes space."""
    first_neighbour: Ints
    """(n + 1,)"""
    neighbours: Ints
    """The buffers with which each shares a section."""


def sections_of(problem: StaticProblem, units: Units) -> Sections:
    """Cut time into sections.

    Args:
        problem: No buffer takes parts of its bytes; each takes some at some time.
        units: Its numbers.
    """
    buffers, unit = problem.buffers, units.unit
    first_home, homes = _flat(_homes(buffers))
    owner = np.repeat(np.arange(len(buffers)), np.diff(first_home))
    spans = np.stack((homes[first_home[:-1]], homes[first_home[1:] - 1] + 1))
    count = int(homes.max()) + 1
    limits = np.array(units.limits, np.int64)
    ceilings = np.zeros(count, np.int64)
    np.maximum.at(ceilings, homes, limits[owner])
    fixed = [-1 if x.offset is None else x.offset // unit for x in buffers]
    return Sections(
        np.array(units.sizes, np.int64),
        limits,
        np.array([max(1, x.alignment // unit) for x in buffers], np.int64),
        np.array(fixed, np.int64),
        spans,
        ceilings,
        np.concatenate(([0], np.cumsum(np.bincount(homes, minlength=count)))),
        owner[np.argsort(homes, kind="stable")],
        first_home,
        homes,
        *_flat(_neighbours(np.split(homes, first_home[1:-1]), spans)),
    )


def _homes(buffers: Sequence[StaticBuffer]) -> list[Ints]:
    """The sections of each buffer, ascending."""
    shapes = [buffer.rectangles for buffer in buffers]
    parts = [r for shape in shapes for r in shape]
    index = _sections({r.start for r in parts}, {r.end for r in parts})
    return [
        np.concatenate([np.arange(index[r.start], index[r.end]) for r in shape])
        for shape in shapes
    ]


def _sections(starts: set[int], ends: set[int]) -> dict[int, int]:
    """How many sections are over at each time.

    One is over where something ends, if anything has begun since the last was over:
    otherwise all that is live then is live in the last one too.
    """
    over, has_begun, count = {}, False, 0
    for time in sorted(starts | ends):
        if time in ends and has_begun:
            count, has_begun = count + 1, False
        has_begun = has_begun or time in starts
        over[time] = count
    return over


def _neighbours(homes: Sequence[Ints], spans: Ints) -> list[Ints]:
    """For each buffer, the others with which it shares a section."""
    first, last = spans
    has_gaps = last - first > np.array([len(own) for own in homes], np.int64)
    found = []
    for index, own in enumerate(homes):
        near = (first < last[index]) & (last > first[index])
        near[index] = False
        for other in np.flatnonzero(near & (has_gaps | has_gaps[index])).tolist():
            near[other] = np.isin(own, homes[other]).any()
        found.append(np.flatnonzero(near))
    return found


def _flat(lists: Sequence[Ints]) -> tuple[Ints, Ints]:
    first = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return first, np.concatenate(lists).astype(np.int64)
