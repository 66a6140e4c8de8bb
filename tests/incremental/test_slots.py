"""Slots of the tables are allocations, and allocations slots."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from named_problems import CHAIN, OUT, W, X, problem, reads, writes
from strategies import memory_maps, problems

from hybridalloc.arrays import Ints
from hybridalloc.checker import check
from hybridalloc.incremental import tables
from hybridalloc.incremental.slots import allocations, slot_row
from hybridalloc.incremental.world import Row
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer
from hybridalloc.recognition import recognise

TAIL = problem((W, X, OUT), (reads(0), writes(1)), (reads(1), writes(2)), ())


def boxes(row: Ints) -> list[list[int]]:
    """Units from the offset, and points."""
    end = tables.FIRST_BOX + 4 * row[tables.BOXES]
    found: list[list[int]] = row[tables.FIRST_BOX : end].reshape(-1, 4).tolist()
    return found


def columns(row: Ints, *names: int) -> list[int]:
    return [int(row[name]) for name in names]


def test_a_slot_is_in_units_of_the_alignment() -> None:
    """Of 4 bytes: 8 bytes at 12 are units 3 and 4."""
    row = slot_row(CHAIN, 7, [Allocation(1, 12, 0, 2)])
    assert columns(row, tables.STAY, tables.OF, tables.OFFSET) == [7, 1, 3]
    assert columns(row, tables.FROM, tables.READY, tables.UNTIL) == [0, 0, 2]
    assert columns(row, tables.OUT, tables.DUE) == [-1, -1]
    assert boxes(row) == [[0, 2, 0, 2]]


def test_an_eviction_has_its_points_and_no_box_of_its_own() -> None:
    one = Allocation(3, 0, 2, 3, eviction=Eviction(3, 3))
    row = slot_row(CHAIN, 0, [one])
    assert columns(row, tables.OUT, tables.DUE) == [3, 3]
    assert boxes(row) == [[0, 2, 2, 3]]


def test_a_slice_has_a_box_from_its_own_issue_on() -> None:
    """The last unit of a buffer of 10 bytes is not full."""
    given_one = problem((Buffer("w", 10, is_input=True),), (), (), (reads(0),))
    slices = Slice(4, 1), Slice(6, 0)
    one = Allocation(0, 8, 0, 3, Origin.PREFETCHED, ready=2, slices=slices)
    assert boxes(slot_row(given_one, 0, [one])) == [[0, 1, 1, 3], [1, 3, 0, 3]]


def test_a_cross_program_prefetch_has_a_box_for_head_and_tail() -> None:
    left = Origin.CROSS_PROGRAM
    pair = Allocation(0, 4, 0, 1, left), Allocation(0, 4, 2, 3, left, ready=3)
    row = slot_row(TAIL, 0, pair)
    assert columns(row, tables.FROM, tables.READY, tables.UNTIL) == [0, 0, 3]
    assert boxes(row) == [[0, 2, 0, 1], [0, 2, 2, 3]]


def unsliced(x: Allocation) -> Allocation:
    """A prefetch of one slice is one without."""
    return replace(x, slices=()) if len(x.slices) == 1 else x


@settings(max_examples=75)
@given(st.data(), problems())
def test_what_becomes_a_slot_comes_back_as_it_was(
    data: st.DataObject, drawn: Problem
) -> None:
    """Every stay of a valid map: slices, evictions, cross-program prefetches."""
    memory_map: MemoryMap = data.draw(memory_maps(drawn, max_allocations=3))
    assume(memory_map.allocations and not check(drawn, memory_map))
    for found in recognise(drawn.program, Loops(drawn.program), memory_map):
        is_cross = found.allocations[0].origin is Origin.CROSS_PROGRAM
        row = slot_row(drawn, 0, found.allocations)
        kind = tables.CROSS if is_cross else tables.USUAL
        back = allocations(drawn, Row(found.stay, kind), row.tolist())
        assert tuple(back) == tuple(map(unsliced, found.allocations))
