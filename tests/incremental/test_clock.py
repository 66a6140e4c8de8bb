"""Stalls played again where copies change, on programs worked out by hand.

A copy of n bytes is n seconds of work.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from search_tables import (
    READ,
    WRITE,
    evicted,
    prefetch,
    problem,
    row_of,
    stay_of,
    workspace_of,
)
from search_walks import Habits, Walk, assert_same, judged_anew, standing

from hybridalloc.cpsat_models.search.annealing import restore, snapshot
from hybridalloc.cpsat_models.search.workspace import Workspace
from hybridalloc.incremental import tables
from hybridalloc.incremental.edits import accept, judge, put, take, undo
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.program import Loop
from hybridalloc.simulator import simulate

BOTH = {(1, 1): READ, (2, 0): READ}
"""b1 is read at 1, b0 at 2."""
CHANGED = Habits(keep_others=0.2, check_every=1000, look_every=1000)


def stalls(workspace: Workspace) -> float:
    """All stalls of the map in the tables, in seconds."""
    return float(workspace.clocks[0].sums[tables.STALLS])


def put_in(workspace: Workspace, x: Allocation, size: int) -> None:
    """Put an allocation of so many bytes in that serves one instruction."""
    end = x.end if x.eviction is None else x.ready + 1
    row = row_of(stay_of(workspace, x.buffer, x.ready, end), x, size)
    put(*workspace.directories, row, 1.0)


@pytest.mark.parametrize(("under_1", "stall"), [(0, 4), (1, 3), (9, 0)])
def test_two_prefetches_queue_by_when_they_are_due(
    under_1: float, stall: float
) -> None:
    # b1, 3 s, is done after 3 of 4 s under instruction 0. Of b0's 5 s, 1 is done there,
    # and what there is under instruction 1; the rest is a stall.
    given = problem([4, under_1, 0], [5, 3], BOTH)
    start = prefetch(1, 0, 0, 1), prefetch(0, 10, 0, 2)
    workspace = workspace_of(given, *start)
    assert stalls(workspace) == stall
    assert workspace.objective == 4 + under_1 + stall
    assert workspace.objective == simulate(given, MemoryMap(start)).time_s
    clock = workspace.clocks[0]
    assert clock.marks[:, tables.STALL].tolist()[:3] == [0, 0, stall]
    assert clock.marks[:3, tables.USED].tolist() == [4, min(under_1, 4), 0]
    before_2 = clock.marks[2, [tables.ISSUED_IN, tables.DONE_IN]].tolist()
    assert before_2 == [8, 8 - stall]


@pytest.mark.parametrize("due", [2, 3])
def test_the_queues_share_and_a_stall_lets_both_advance(due: int) -> None:
    # Under instruction 1, 8 s, each of 6 and 6 s advances by 4. The 2 s left of the
    # prefetch take 4, in which the eviction ends too.
    uses = {(2, 0): READ, (0, 1): WRITE, (3, 1): READ}
    given = problem([0, 8, 0, 0], [6, 6], uses)
    workspace = workspace_of(given, prefetch(0, 0, 1, 2), evicted(1, 8, 0, 1, due))
    assert stalls(workspace) == 4


def test_a_move_is_judged_kept_and_taken_back() -> None:
    """b0's copy alone, 5 s, has 4 s; behind b1's, 3 s, it waits for 4; without, for 1.

    As in the first test, with nothing under instruction 1.
    """
    workspace = workspace_of(problem([4, 0, 0], [5, 3], BOTH), prefetch(0, 10, 0, 2))
    where = workspace.directories
    assert (workspace.objective, stalls(workspace)) == (5, 1)
    before = standing(workspace)
    put_in(workspace, prefetch(1, 0, 0, 1), 3)
    assert judge(*where) == 8
    undo(*where)
    assert_same(standing(workspace), before)
    assert judged_anew(workspace) == 5
    put_in(workspace, prefetch(1, 0, 0, 1), 3)
    assert judge(*where) == 8
    accept(*where)
    assert stalls(workspace) == 4
    slot = workspace.state.heads[0]
    take(*where, slot)
    assert judge(*where) == 4
    accept(*where)
    assert stalls(workspace) == 0
    assert judged_anew(workspace) == 4


def test_a_copy_that_is_long_done_is_not_waited_for() -> None:
    """Whatever work is counted before it in the steps that were played again.

    b1, 3 s, is done under instruction 0 and due at 4. Then b0, 4 s, is issued before
    it and due at 1: 7 of 10 s, so that nothing later changes and is played again. Then
    b2, 2 s, from 2 to 4, is done under instruction 2: there is no stall at all.
    """
    uses = {(1, 0): READ, (4, 1): READ, (4, 2): READ}
    given = problem([10, 10, 10, 10, 0], [4, 3, 2], uses)
    workspace = workspace_of(given, prefetch(1, 4, 0, 4))
    where = workspace.directories
    put_in(workspace, prefetch(0, 0, 0, 1), 4)
    assert judge(*where) == 40
    accept(*where)
    put_in(workspace, prefetch(2, 8, 2, 4), 2)
    assert judge(*where) == 40
    accept(*where)
    assert judged_anew(workspace) == 40


def test_what_is_played_ends_where_nothing_is_left_to_differ() -> None:
    """A change at 1 leaves both queues empty at 3, before the steps of 3 to 9."""
    given = problem([5] * 10, [2, 2], {(2, 0): READ, (9, 1): READ})
    workspace = workspace_of(given, prefetch(1, 4, 8, 9))
    put_in(workspace, prefetch(0, 0, 1, 2), 2)
    assert judge(*workspace.directories) == 50
    assert workspace.clocks[0].sums[tables.EXIT] == 3


def test_a_copy_in_a_loop_stalls_in_each_trip() -> None:
    # Of 5 s, 4 are done under instruction 1: 1 s is left in each of 3 trips.
    given = problem([0, 4, 0, 0], [5], {(2, 0): READ}, (Loop(0, 3, 3),))
    body_copy = prefetch(0, 0, 1, 2)
    workspace = workspace_of(given, body_copy)
    assert stalls(workspace) == 3
    assert workspace.objective == simulate(given, MemoryMap((body_copy,))).time_s == 15


def test_the_best_map_is_restored_exactly(bundled: Path) -> None:
    problem_read = read_problem(bundled / "lstm_lm_b64_s128")
    walk = Walk([problem_read], MemoryMap(), seed=0)
    walk.make(300, CHANGED)
    workspace, best = walk.workspace, walk.map()
    slots = len(workspace.state.slots)
    kept = np.zeros((slots + 1, tables.SLOT_COLUMNS), dtype=np.int64)
    snapshot(workspace.directories[1], kept)
    objective = judged_anew(workspace)
    walk.make(300, CHANGED)
    assert walk.map() != best
    assert restore(*workspace.directories, kept) == pytest.approx(objective, rel=1e-12)
    assert walk.map() == best
    assert judged_anew(workspace) == pytest.approx(objective, rel=1e-12)
    standing(workspace)


def test_a_map_without_allocations_is_restored_too() -> None:
    given = problem([4, 0, 0], [5, 3], BOTH)
    workspace = workspace_of(given)
    kept = np.zeros((len(workspace.state.slots) + 1, tables.SLOT_COLUMNS), np.int64)
    snapshot(workspace.directories[1], kept)
    put_in(workspace, prefetch(1, 0, 0, 1), 3)
    judge(*workspace.directories)
    accept(*workspace.directories)
    assert restore(*workspace.directories, kept) == 4
    assert workspace.state.counts[tables.N_ACTIVE] == 0
