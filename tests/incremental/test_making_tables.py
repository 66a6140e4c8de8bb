"""The tables: their columns, and the directories that hand them to compiled code."""

from __future__ import annotations

import numpy as np
import pytest
from search_tables import READ, evicted, prefetch, problem, workspace_of

from hybridalloc.arrays import Floats, Ints
from hybridalloc.incremental import tables
from hybridalloc.incremental.directory import (
    directory,
    float_row,
    floats,
    int_row,
    ints,
)
from hybridalloc.incremental.tables import Clock, State, World
from hybridalloc.jit import compiled


@pytest.mark.parametrize("kind", [World, State, Clock])
def test_the_places_of_tables_are_those_of_the_fields(
    kind: type[World | State | Clock],
) -> None:
    places = [getattr(tables, name.upper()) for name in kind._fields]
    assert places == list(range(len(kind._fields)))


def test_tables_have_the_columns_that_are_named() -> None:
    workspace = workspace_of(problem([4, 0], [5], {(1, 0): READ}), prefetch(0, 0, 0, 1))
    world, state, clock = workspace.world, workspace.state, workspace.clocks[0]
    widths = {
        tables.UNTOUCHED: world.stays,
        tables.UNIT_SHARE: world.weights,
        tables.ACCESS: world.uses,
        tables.FROM_HERE: world.points,
        tables.LOOP_AGAIN: world.loops,
        tables.TOP: world.steps,
        tables.FIRST_BOX + 4 * tables.MOST_BOXES - 1: state.slots,
        tables.EVICTING: state.outstanding,
        tables.KEY + 3: state.copies,
        tables.LEAST: clock.terms,
        tables.BYTES: clock.access_s,
        tables.IDLE: clock.times,
        tables.ON_TRIAL: clock.spots,
    }
    for last, table in widths.items():
        assert table.shape[1] == last + 1
    assert len(state.counts) == tables.N_CROSSES + 1
    assert len(clock.sums) == tables.LIMIT + 1
    assert clock.marks.shape == clock.trial.shape
    assert len(state.copies) == len(state.works) == tables.PER_SLOT * len(state.slots)


def test_the_tables_of_a_map_tell_what_it_is() -> None:
    """b0 is fetched from 0 to 2 and held until 3, b1 evicted from 1 to 2.

    Sizes are 5 and 3; a copy is so many seconds.
    """
    given = problem([4, 8, 0, 0], [5, 3], {(2, 0): READ, (0, 1): "write", (3, 1): READ})
    workspace = workspace_of(given, prefetch(0, 10, 0, 2), evicted(1, 0, 0, 1, 2))
    state = workspace.state
    assert state.load.tolist() == [8, 8, 5, 0]
    assert state.outstanding.tolist() == [[1, 0], [1, 1], [0, 0], [0, 0], [0, 0]]
    served = workspace.world.accessed[state.fast == 1]
    assert served.tolist() == [1, 0]  # the write at 0 and the read at 2
    assert state.counts[tables.N_ACTIVE] == 2
    assert sorted(state.works[state.works > 0].tolist()) == [3, 5]


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3, dtype=np.float32),
        np.zeros(3, dtype=np.int32),
        np.zeros((2, 2, 2)),
        np.zeros((4, 4))[:, :2],
        np.zeros((4, 4), dtype=np.int64).T[:2],
        np.zeros(6)[::2],
        np.array(1.0),
        np.array(["text"]),
    ],
    ids=["float32", "int32", "deep", "columns", "turned", "strided", "none", "text"],
)
def test_arrays_that_compiled_code_would_misread_are_refused(
    array: Floats | Ints,
) -> None:
    with pytest.raises(ValueError, match="expected 64-bit numbers"):
        directory([np.zeros(2), array])


@compiled
def swapped(where: Ints) -> tuple[float, int, float, int]:
    """What stands last in each array, which 7 then replaces."""
    one, two, three, four = (
        floats(where, 0),
        ints(where, 1),
        float_row(where, 2),
        int_row(where, 3),
    )
    last = one[-1, -1], two[-1, -1], three[-1], four[-1]
    one[-1, -1] = two[-1, -1] = three[-1] = four[-1] = 7
    return last


def test_compiled_code_reads_and_writes_the_arrays_of_a_directory() -> None:
    one = np.arange(6.0).reshape(2, 3)
    two = np.arange(8).reshape(4, 2)
    three, four = np.arange(3.0), np.arange(5)
    where = directory([one, two, three, four])
    assert where[:, 1:].tolist() == [[2, 3], [4, 2], [3, 1], [5, 1]]
    assert swapped(where) == (5.0, 7, 2.0, 4)
    assert (one[1, 2], two[3, 1], three[2], four[4]) == (7, 7, 7, 7)
    assert swapped(where) == (7, 7, 7, 7)
    assert one[:, :2].tolist() == [[0, 1], [3, 4]]
