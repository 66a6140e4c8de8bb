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
    homes, members = _incidence(buffers)
    spans = np.array([(own[0], own[-1] + 1) for own in homes], np.int64)
    spans = spans.reshape(-1, 2).T.copy()
    fixed = [-1 if x.offset is None else x.offset // unit for x in buffers]
    return Sections(
        np.array(units.sizes, np.int64),
        np.array(units.limits, np.int64),
        np.array([max(1, x.alignment // unit) for x in buffers], np.int64),
        np.array(fixed, np.int64),
        spans,
        np.array([max(units.limits[i] for i in own) for own in members], np.int64),
        *_flat(members),
        *_flat(homes),
        *_flat(_neighbours(homes, spans)),
    )


def _incidence(
    buffers: Sequence[StaticBuffer],
) -> tuple[list[list[int]], list[list[int]]]:
    """The sections of each buffer, and the buffers of each section."""
    shapes = [buffer.rectangles for buffer in buffers]
    parts = [r for shape in shapes for r in shape]
    index = _sections({r.start for r in parts}, {r.end for r in parts})
    homes: list[list[int]] = []
    members: list[list[int]] = [[] for _ in range(max(index.values(), default=0))]
    for buffer, shape in enumerate(shapes):
        own = [s for r in shape for s in range(index[r.start], index[r.end])]
        homes.append(own)
        for s in own:
            members[s].append(buffer)
    return homes, members


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


def _neighbours(homes: Sequence[Sequence[int]], spans: Ints) -> list[list[int]]:
    """For each buffer, the others with which it shares a section."""
    first, last = spans
    has_gaps = last - first > np.array([len(own) for own in homes], np.int64)
    found = []
    for index, own in enumerate(homes):
        near = (first < last[index]) & (last > first[index])
        near[index] = False
        for other in np.flatnonzero(near & (has_gaps | has_gaps[index])).tolist():
            near[other] = not set(own).isdisjoint(homes[other])
        found.append(np.flatnonzero(near).tolist())
    return found


def _flat(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    first = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return first, np.array([x for some in lists for x in some], np.int64)
