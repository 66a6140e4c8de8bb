"""Copies queue in the order of the map while an allocation is still growing."""

from __future__ import annotations

import pytest
from search_tables import READ, WRITE, prefetch, problem, workspace_of

from hybridalloc.cpsat_models.search.workspace import Workspace
from hybridalloc.incremental import tables
from hybridalloc.incremental.queueing import rekey
from hybridalloc.memory_map import Allocation, Origin

READS = {(2, 0): READ, (2, 1): READ, (3, 0): READ, (3, 1): READ, (3, 2): READ}
READY_AT_2 = prefetch(0, 0, 0, 2), prefetch(1, 5, 0, 2)


def issued_first(workspace: Workspace, buffer: int) -> list[int]:
    """The buffers whose copies are issued where that of one is, in their order."""
    state = workspace.state
    first = tables.PER_SLOT * int(state.heads[buffer])
    step = state.copies[first, tables.ISSUE_STEP]
    found, copy = [], int(state.queued[step, 0])
    while copy >= 0:
        found.append(int(state.slots[copy // tables.PER_SLOT, tables.OF]))
        copy = int(state.copies[copy, tables.NEXT_ISSUED])
    return found


def grow(workspace: Workspace, buffer: int, until: int) -> None:
    """Let the allocation of a buffer end later."""
    slot = workspace.state.heads[buffer]
    workspace.state.slots[slot, tables.UNTIL] = until
    rekey(*workspace.directories[:2], slot, until)


def longer(x: Allocation, end: int) -> Allocation:
    return Allocation(x.buffer, x.offset, x.start, end, x.origin, x.ready)


def test_of_two_due_at_once_the_one_that_ends_later_is_issued_later() -> None:
    workspace = workspace_of(problem([9] * 4, [5, 3, 2], READS), *READY_AT_2)
    assert issued_first(workspace, 0) == [0, 1]
    grow(workspace, 0, 4)
    assert issued_first(workspace, 0) == [1, 0]
    grow(workspace, 1, 4)  # as late: by the buffer
    assert issued_first(workspace, 0) == [0, 1]


@pytest.mark.parametrize("buffer", [0, 1])
def test_the_order_is_that_of_a_map_that_was_longer_from_the_start(
    buffer: int,
) -> None:
    given = problem([9] * 4, [5, 3, 2], READS)
    start = [*READY_AT_2, Allocation(2, 9, 0, 4, Origin.PREFETCHED, 3)]
    grown, anew = workspace_of(given, *start), list(start)
    anew[buffer] = longer(start[buffer], 4)
    grow(grown, buffer, 4)
    assert issued_first(grown, 2) == issued_first(workspace_of(given, *anew), 2)


def test_what_is_due_at_other_points_keeps_its_place_and_learns_the_end() -> None:
    """b2 is due later than b0, whenever b0 ends; a later copy is compared with that."""
    start = READY_AT_2[0], prefetch(2, 9, 0, 3)
    workspace = workspace_of(problem([9] * 4, [5, 3, 2], READS), *start)
    grow(workspace, 0, 4)
    assert issued_first(workspace, 0) == [0, 2]
    copy = tables.PER_SLOT * int(workspace.state.heads[0])
    keys = workspace.state.copies[copy, tables.KEY : tables.KEY + 4]
    assert keys.tolist() == [0, 2, 4, 0]


def test_what_has_no_copy_has_no_place_among_copies() -> None:
    uses = {**READS, (1, 0): WRITE, (2, 0): READ}
    workspace = workspace_of(
        problem([9] * 4, [5, 3, 2], uses), Allocation(0, 0, 1, 3), READY_AT_2[1]
    )
    before = workspace.state.copies.copy(), workspace.state.queued.copy()
    grow(workspace, 0, 4)
    assert (workspace.state.copies == before[0]).all()
    assert (workspace.state.queued == before[1]).all()
