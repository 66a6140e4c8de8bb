"""Places: bases that are free, and those at which what is in the way is worth least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_tables import READ, prefetch, problem, row_of, stay_of, workspace_of

from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.workspace import Workspace
from hybridalloc.incremental import tables
from hybridalloc.incremental.places import (
    NOWHERE,
    bases,
    block,
    cheapest,
    fit,
    may_fit,
)
from hybridalloc.memory_map import Allocation, Origin

Interval = tuple[int, int]
INTERVALS = st.lists(
    st.tuples(st.integers(-3, 12), st.integers(1, 6)).map(lambda x: (x[0], sum(x))),
    max_size=6,
)
"""Bases that are taken: from, until."""
USES = {(t, b): READ for t in range(4) for b in range(4)}


def taken(intervals: Sequence[Interval]) -> Ints:
    """(intervals, 3): as the search has them, each by a slot of its own."""
    rows = [(*interval, slot) for slot, interval in enumerate(intervals)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def gaps_in(intervals: Sequence[Interval], least: int, most: int) -> list[Interval]:
    """The first and last base of each gap between the intervals."""
    free = [
        base
        for base in range(least, most + 1)
        if not any(low <= base < high for low, high in intervals)
    ]
    firsts = [base for base in free if base - 1 not in free]
    lasts = [base for base in free if base + 1 not in free]
    return list(zip(firsts, lasts, strict=True))


@pytest.mark.parametrize(("style", "base"), [(0, 5), (1, 6), (2, 0), (3, 12)])
def test_each_style_chooses_its_end_of_a_gap(style: int, base: int) -> None:
    # Free are 0, 1, 2, then 5 and 6, the smallest gap, then 10, 11 and 12.
    assert fit(taken([(7, 10), (3, 5)]), 2, 0, 12, style) == base


@given(INTERVALS, st.integers(0, 3), st.integers(0, 14), st.integers(0, 3))
def test_a_base_is_free_and_at_an_end_of_a_gap(
    intervals: list[Interval], least: int, most: int, style: int
) -> None:
    gaps = gaps_in(intervals, least, most)
    base = fit(taken(intervals), len(intervals), least, most, style)
    if not gaps:
        assert base == NOWHERE
        return
    smallest = min(gaps, key=lambda gap: gap[1] - gap[0])
    wanted = (smallest[0], smallest[1], gaps[0][0], gaps[-1][1])
    assert base == wanted[style]


def blocked_by(
    workspace: Workspace, intervals: Sequence[Interval], values: Sequence[float]
) -> Ints:
    """The state, with these intervals and the values of their slots."""
    workspace.state.blocked[: len(intervals)] = taken(intervals)
    workspace.state.values[: len(values)] = values
    return workspace.directories[1]


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    """Four buffers of 4, 6, 3 and 5 bytes, read by each instruction, in 20 bytes.

    Bytes 17 and 18 are reserved. b0 is at 2 from 0 to 2, b1 at 10 from 1 to 3, of which
    it is ready at 2.
    """
    given_one = problem([1] * 4, [4, 6, 3, 5], USES, reserved=((17, 19),))
    one = Allocation(0, 2, 0, 2, Origin.PREFETCHED, 0)
    return workspace_of(given_one, one, prefetch(1, 10, 1, 2))


@given(INTERVALS, st.data(), st.integers(0, 3), st.integers(0, 14))
def test_least_gives_way_at_the_cheapest_base(
    workspace: Workspace,
    intervals: list[Interval],
    data: st.DataObject,
    least: int,
    most: int,
) -> None:
    """What is worth infinitely much never does."""
    some = st.sampled_from([0.0, 1.0, 2.0, 4.0, np.inf])
    count = len(intervals)
    values = data.draw(st.lists(some, min_size=count, max_size=count))
    worth = {
        base: sum(
            value
            for (low, high), value in zip(intervals, values, strict=True)
            if low <= base < high
        )
        for base in range(least, most + 1)
    }
    state = blocked_by(workspace, intervals, values)
    random = np.random.default_rng(0)
    base = cheapest(state, count, least, most, 0.0, random)
    lowest = min(worth.values(), default=np.inf)
    if lowest == np.inf:
        assert base == NOWHERE
    else:
        assert worth[base] == lowest


def test_noise_makes_values_smaller_by_no_more_than_its_part(
    workspace: Workspace,
) -> None:
    """Of 10 and 6, half may seem to be gone: sometimes 10 gives way, never 13."""
    intervals, values = [(0, 2), (1, 3), (3, 5)], [6, 10, 13]
    state, random = blocked_by(workspace, intervals, values), np.random.default_rng(0)
    # From 0 to 4: 6, then 6 + 10, 10, 13, 13.
    found = {cheapest(state, 3, 0, 4, 0.5, random) for _ in range(200)}
    assert found == {0, 2}
    assert {cheapest(state, 3, 0, 4, 0.3, random) for _ in range(200)} == {0}


def test_what_is_there_at_the_same_time_blocks_bases(workspace: Workspace) -> None:
    """b2, of 3 bytes, from 1 to 2.

    b0 is in [2, 6): bases 0 to 5 are taken; b1 is in [10, 16): 8 to 15; and of the
    reserved [17, 19): 15 to 18.
    """
    row = row_of(stay_of(workspace, 2, 1, 2), prefetch(2, 0, 1, 1), 3)
    state = workspace.state
    count = block(*workspace.directories[:2], row)
    found = {tuple(interval[:2]) for interval in state.blocked[:count].tolist()}
    assert found == {(0, 6), (8, 16), (15, 19)}
    slots = {tuple(x[:2]): x[2] for x in state.blocked[:count].tolist()}
    assert state.slots[slots[0, 6], tables.OF] == 0
    assert state.slots[slots[8, 16], tables.OF] == 1
    assert slots[15, 19] == NOWHERE


def test_what_ends_before_or_begins_afterwards_blocks_nothing(
    workspace: Workspace,
) -> None:
    """b0 ends where b3 begins, at 2: there is b1 alone, in [10, 16), for 5 bytes."""
    row = row_of(stay_of(workspace, 3, 2, 3), prefetch(3, 0, 2, 2), 5)
    count = block(*workspace.directories[:2], row)
    blocked = workspace.state.blocked[:count]
    assert sorted(x[:2] for x in blocked.tolist()) == [[6, 16], [13, 19]]


def test_slices_block_from_their_own_issue_on(workspace: Workspace) -> None:
    """b1's first 2 bytes are there from 1, where b0 is, the other 4 from 2 on.

    Only the first are in b0's way, in [2, 6): bases 1 to 5; both in that of [17, 19).
    """
    row = row_of(stay_of(workspace, 1, 2, 3), prefetch(1, 0, 1, 2), 6)
    row[tables.BOXES] = 2
    first = tables.FIRST_BOX
    row[first : first + 8] = 0, 2, 1, 3, 2, 6, 2, 3
    count = block(*workspace.directories[:2], row)
    blocked = workspace.state.blocked[:count]
    b0 = [x for x in blocked.tolist() if workspace.state.slots[x[2], tables.OF] == 0]
    assert [x[:2] for x in b0 if x[2] != NOWHERE] == [[1, 6]]
    reserved = [x[:2] for x in blocked.tolist() if x[2] == NOWHERE]
    assert sorted(reserved) == [[12, 17], [16, 19]]


def test_bases_keep_within_capacity(workspace: Workspace) -> None:
    row = row_of(stay_of(workspace, 1, 1, 2), prefetch(1, 0, 1, 1), 6)
    assert bases(workspace.directories[0], row) == (0, 14)


def test_what_exceeds_the_load_cannot_fit_anywhere(workspace: Workspace) -> None:
    """At 1 there are 4 + 6 of 20 bytes taken: 10 are left, wherever they are."""
    stay = stay_of(workspace, 3, 1, 2)
    for size, fits in ((10, True), (11, False)):
        row = row_of(stay, prefetch(3, 0, 1, 1), size)
        assert may_fit(*workspace.directories[:2], row) is fits


def test_what_lies_below_the_least_base_is_not_in_the_way(workspace: Workspace) -> None:
    """Bases 0 and 1 are taken by what never gives way, 2 by what is worth 5."""
    state = blocked_by(workspace, [(0, 2), (2, 4)], [np.inf, 5.0])
    assert cheapest(state, 2, 2, 2, 0.0, np.random.default_rng(0)) == 2
