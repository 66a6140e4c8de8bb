"""Copies: the points at which they are issued and due, from the idle time."""

from __future__ import annotations

import numpy as np
import pytest
from search_tables import (
    READ,
    WRITE,
    evicted,
    prefetch,
    problem,
    stay_of,
    workspace_of,
)

from hybridalloc.cpsat_models.search.drafts import limits
from hybridalloc.cpsat_models.search.issuing import (
    due_after,
    issue_before,
    may_copy,
)
from hybridalloc.cpsat_models.search.workspace import Workspace
from hybridalloc.incremental import tables
from hybridalloc.incremental.bodies import outside_after, outside_before
from hybridalloc.incremental.edits import begin_move
from hybridalloc.incremental.tables import FETCHING
from hybridalloc.program import Loop

IDLE = [4, 5, 6, 7]
"""Seconds of the instructions."""


@pytest.fixture
def workspace() -> Workspace:
    """Nothing is copied yet."""
    return workspace_of(problem(IDLE, [5], {(3, 0): READ}))


def issued(
    workspace: Workspace,
    due: int,
    earliest: int,
    body: int,
    trips: float,
    work_s: float,
) -> tuple[int, float]:
    world, state, clocks = workspace.directories
    return issue_before(world, state, clocks[0], due, earliest, body, trips, work_s)


def done(
    workspace: Workspace,
    issue: int,
    deadline: int,
    body: int,
    trips: float,
    work_s: float,
) -> tuple[int, float]:
    world, state, clocks = workspace.directories
    return due_after(world, state, clocks[0], issue, deadline, body, trips, work_s)


def test_a_prefetch_is_issued_as_late_as_idle_time_allows(workspace: Workspace) -> None:
    # Due at 4: 7 s under instruction 3 and 2 of 6 under instruction 2 are 9.
    assert issued(workspace, 4, 0, -1, 1.0, 9.0) == (2, 0)
    assert workspace.state.claims.tolist() == [0, 0, 2, 7]
    # What is claimed is taken: 4 s are left under instruction 2, 1 under 1.
    assert issued(workspace, 4, 0, -1, 1.0, 5.0) == (1, 0)
    assert workspace.state.claims.tolist() == [0, 1, 6, 7]
    begin_move(*workspace.directories[:2])
    assert not workspace.state.claims.any()


def test_a_prefetch_without_time_is_issued_at_the_first_point(
    workspace: Workspace,
) -> None:
    # From 1 to 3 there are 5 + 6 s of 15.
    assert issued(workspace, 3, 1, -1, 1.0, 15.0) == (1, 4)


def test_an_eviction_is_due_as_soon_as_idle_time_allows(workspace: Workspace) -> None:
    # From 1 on: 5 s under instruction 1 and 3 of 6 under instruction 2 are 8.
    assert done(workspace, 1, 4, -1, 1.0, 8.0) == (3, 0)
    assert workspace.state.claims.tolist() == [0, 5, 3, 0]
    # Then 3 s are left under 2 and 7 under 3, of 11: 1 is not done.
    assert done(workspace, 1, 4, -1, 1.0, 11.0) == (4, 1)


def test_a_copy_of_no_work_is_done_at_once(workspace: Workspace) -> None:
    assert issued(workspace, 3, 0, -1, 1.0, 0.0) == (3, 0)
    assert done(workspace, 1, 4, -1, 1.0, 0.0) == (1, 0)


def test_idle_time_that_copies_use_is_not_left() -> None:
    """b0, of 5 bytes, is copied under instruction 2: of 6 s there 1 is left."""
    workspace = workspace_of(problem(IDLE, [5], {(3, 0): READ}), prefetch(0, 0, 2, 3))
    assert issued(workspace, 3, 0, -1, 1.0, 2.0) == (1, 0)
    assert workspace.state.claims.tolist() == [0, 1, 1, 0]


def looped() -> Workspace:
    """A loop of three trips around instructions 1 and 2, another around 2."""
    loops = (Loop(1, 4, 3), Loop(2, 3, 2))
    return workspace_of(problem([4, 5, 6, 7, 8], [5], {(4, 0): READ}, loops))


def test_a_copy_past_a_loop_uses_all_its_trips_and_stays_outside() -> None:
    # Instruction 3 runs 3 times, 7 s each: 20 of 21 s are enough, in a third each.
    workspace = looped()
    assert issued(workspace, 4, 0, -1, 1.0, 20.0) == (1, 0)
    assert workspace.state.claims.tolist() == pytest.approx([0, 0, 0, 20 / 3, 0])


def test_a_copy_within_a_loop_has_the_idle_time_of_one_trip() -> None:
    # Due at 4 in the outer loop, which runs 3 times: 7 s under 3, then of instruction
    # 2, twice 6 s in each trip, 3 s: 1.5 each time. It is issued before the inner loop.
    workspace = looped()
    assert issued(workspace, 4, 1, 0, 3.0, 10.0) == (2, 0)
    assert workspace.state.claims.tolist() == pytest.approx([0, 0, 1.5, 7, 0])


def test_points_move_out_of_loops_that_are_not_around() -> None:
    world = looped().directories[0]
    assert [outside_before(world, t, -1) for t in range(6)] == [0, 1, 1, 1, 4, 5]
    assert [outside_after(world, t, -1) for t in range(6)] == [0, 1, 4, 4, 4, 5]
    assert [outside_before(world, t, 0) for t in range(1, 5)] == [1, 2, 3, 4]
    assert [outside_after(world, t, 0) for t in range(1, 5)] == [1, 2, 3, 4]


def test_copies_are_outstanding_from_issue_to_due_or_at_one_point() -> None:
    outstanding = np.array([[0, 2, 1, 2, 0], [9] * 5]).T
    assert may_copy(outstanding, FETCHING, 2, 3, 2, 1)  # point 2 alone
    assert not may_copy(outstanding, FETCHING, 2, 4, 2, 1)  # point 3, too
    assert not may_copy(outstanding, FETCHING, 1, 1, 2, 1)  # issued and due at 1
    assert may_copy(outstanding, FETCHING, 2, 2, 2, 1)
    assert not may_copy(outstanding, FETCHING, 2, 2, 2, 2)
    assert may_copy(outstanding, FETCHING, 4, 4, 2, 2)
    assert not may_copy(outstanding, FETCHING, 0, 0, 0, 1)


def test_other_stays_of_a_buffer_limit_copies() -> None:
    """b0 is written at 0, evicted from 1 to 3, and fetched from 5 for its read at 6.

    What serves the read at 4 may be fetched from 3 on. If b0 is fetched again for 6 at
    5, then what is at 4 may be evicted by 5 at the latest, as nothing is written there.
    """
    uses = {(0, 0): WRITE, (4, 0): READ, (6, 0): READ}
    given = problem([1] * 7, [5], uses)
    workspace = workspace_of(given, evicted(0, 0, 0, 1, 3), prefetch(0, 8, 5, 6))
    world, state, _ = workspace.directories
    stay = stay_of(workspace, 0, 4, 5)
    assert workspace.world.stays[stay, tables.EARLIEST] == 1  # by itself
    assert limits(world, state, stay)[0] == 3
    assert limits(world, state, stay)[2]


def test_stays_that_share_an_access_are_not_both_there() -> None:
    uses = {(0, 0): WRITE, (2, 0): READ, (4, 0): READ}
    workspace = workspace_of(problem([1] * 5, [5], uses), prefetch(0, 8, 3, 4))
    world, state, _ = workspace.directories
    assert limits(world, state, stay_of(workspace, 0, 2, 3))[2]
    assert not limits(world, state, stay_of(workspace, 0, 2, 5))[2]
    assert not limits(world, state, stay_of(workspace, 0, 4, 5))[2]
