"""Memory maps at new offsets stay valid, and what must stay together does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from named_problems import OUT, W, X, Y, problem, reads, target, updates, writes
from strategies import memory_maps, problems

from hybridalloc.checker import check
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.packing.maps import blocks_of, repack_map
from hybridalloc.packing.occupancy import Occupancy, held_bytes, occupancy
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop

SOME_DRAWS = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
"""Few of the maps that are drawn are valid."""
FETCHED = Origin.PREFETCHED


def without_offsets(memory_map: MemoryMap) -> MemoryMap:
    return MemoryMap(tuple(replace(x, offset=None) for x in memory_map.allocations))


def members(named: Problem, memory_map: MemoryMap) -> list[tuple[int, ...]]:
    return [group.members for group in blocks_of(named, memory_map)]


def test_the_parts_of_a_cross_program_prefetch_stay_together() -> None:
    """The head is free from 1 to 3 for another; the tail must not go there alone."""
    named = problem((W, X, OUT), (reads(0),), (writes(1),), (reads(1), writes(2)), ())
    cross = Origin.CROSS_PROGRAM
    parts = (
        Allocation(0, 8, 0, 1, cross),
        Allocation(1, 8, 1, 3),
        Allocation(0, 8, 3, 4, cross, ready=4),
    )
    found = MemoryMap(parts)
    assert members(named, found) == [(0, 2), (1,)]
    assert members(named, without_offsets(found)) == [(0, 2), (1,)]
    moved = repack_map(named, found)
    assert moved is not None
    assert [x.offset for x in moved.allocations] == [0, 0, 0]
    assert check(named, moved) == ()


CARRIED = problem(
    (X, Y, OUT),
    (writes(0),),
    (reads(0), writes(1)),
    (reads(1), writes(0)),
    (reads(0), writes(2)),
    loops=(Loop(1, 3, trip_count=5),),
)
"""x enters the loop [1, 3) in one allocation and leaves it in another."""
CARRYING = MemoryMap(
    (Allocation(0, 16, 0, 2), Allocation(1, 8, 1, 3), Allocation(0, 16, 2, 4))
)


def test_what_a_loop_carries_is_at_one_place_at_entry_and_back_edge() -> None:
    assert check(CARRIED, CARRYING) == ()
    assert members(CARRIED, CARRYING) == [(0, 2), (1,)]
    for start in (CARRYING, without_offsets(CARRYING)):
        moved = repack_map(CARRIED, start)
        assert moved is not None
        assert check(CARRIED, moved) == ()
        assert moved.peak_bytes(CARRIED.program) == 16


def test_stays_within_a_loop_and_beside_it_move_alone() -> None:
    """Two stays that touch neither the first nor the last point of the loop."""
    named = problem((W,), *[(reads(0),)] * 6, loops=(Loop(0, 6, trip_count=2),))
    two = MemoryMap((Allocation(0, 0, 1, 2, FETCHED), Allocation(0, 0, 3, 4, FETCHED)))
    assert check(named, two) == ()
    assert members(named, two) == [(0,), (1,)]


def test_what_overlaps_in_time_is_never_one_block() -> None:
    """Both touch the loop's first point, and have no offsets that tell them apart."""
    named = problem((W,), *[(reads(0),)] * 4, loops=(Loop(1, 3, trip_count=2),))
    both = MemoryMap(
        (Allocation(0, None, 0, 4, FETCHED), Allocation(0, None, 1, 3, FETCHED))
    )
    assert members(named, both) == [(0,), (1,)]


def test_a_fixed_place_is_kept() -> None:
    named = problem((Buffer("fixed", 8, offset=16), X), (writes(0), writes(1)))
    moved = repack_map(
        named, MemoryMap((Allocation(0, 16, 0, 1), Allocation(1, 24, 0, 1)))
    )
    assert moved is not None
    assert [x.offset for x in moved.allocations] == [16, 0]


def test_a_map_that_cannot_be_packed_has_no_offsets() -> None:
    named = problem((X, Y), (writes(0), writes(1)), machine=target(capacity=12))
    both = MemoryMap((Allocation(0, None, 0, 1), Allocation(1, None, 0, 1)))
    assert repack_map(named, both, iterations=50) is None


def test_fragmentation_is_what_lies_idle_below_the_peak() -> None:
    """At 1: y [0, 8) and 4 of w's bytes, [16, 20); the other 4, [20, 24), come at 2.

    So 12 bytes are held at 1 and 8 + 8 = 16 at 2, of 24: a third is idle.
    """
    named = problem((W, Y), (), (writes(1),), (reads(0), reads(1)), (updates(1),))
    pieces = (Slice(4, 1), Slice(4, 2))
    some = MemoryMap(
        (
            Allocation(0, 16, 1, 3, FETCHED, ready=2, slices=pieces),
            Allocation(1, 0, 1, 4, eviction=None),
        )
    )
    assert held_bytes(named.program, some).tolist() == [0, 12, 16, 8]
    used = occupancy(named.program, some)
    assert used == Occupancy(peak_bytes=24, held_bytes=16)
    assert used.fragmentation == 1 - 16 / 24
    empty = occupancy(named.program, MemoryMap())
    assert (empty, empty.fragmentation) == (Occupancy(0, 0), 0.0)


def test_slices_are_packed_as_parts() -> None:
    """Until 2 the upper half of w leaves [4, 8) to y; 8 bytes hold both."""
    half = Buffer("half", 4)
    named = problem(
        (W, half), (), (writes(1),), (reads(0),), machine=target(capacity=8)
    )
    sliced = Allocation(
        0, None, 0, 3, FETCHED, ready=2, slices=(Slice(4, 0), Slice(4, 2))
    )
    found = repack_map(named, MemoryMap((sliced, Allocation(1, None, 1, 2))))
    assert found is not None
    assert [x.offset for x in found.allocations] == [0, 4]
    assert check(named, found) == ()


def test_an_eviction_keeps_its_space_until_the_end() -> None:
    named = problem((OUT, X), (writes(0),), (writes(1),), (reads(1),))
    kept = Allocation(0, None, 0, 3, eviction=Eviction(1, 3))
    found = repack_map(named, MemoryMap((kept, Allocation(1, None, 1, 3))))
    assert found is not None
    assert found.peak_bytes(named.program) == 16
    assert check(named, found) == ()


@SOME_DRAWS
@given(st.data())
def test_a_valid_map_stays_valid_and_its_peak_is_no_higher(data: st.DataObject) -> None:
    drawn = data.draw(problems())
    memory_map = data.draw(memory_maps(drawn))
    assume(len(memory_map) and check(drawn, memory_map) == ())
    moved = repack_map(drawn, memory_map, iterations=30)
    assert moved is not None
    assert check(drawn, moved) == ()
    assert moved.peak_bytes(drawn.program) <= memory_map.peak_bytes(drawn.program)


@SOME_DRAWS
@given(st.data())
def test_a_valid_map_without_its_offsets_is_valid_at_others(
    data: st.DataObject,
) -> None:
    drawn = data.draw(problems())
    memory_map = data.draw(memory_maps(drawn))
    assume(len(memory_map) and check(drawn, memory_map) == ())
    found = repack_map(drawn, without_offsets(memory_map), iterations=60)
    assert found is None or check(drawn, found) == ()


def test_the_map_of_a_compiler_is_packed_lower(bundled: Path) -> None:
    read = read_problem(bundled / "lstm_lm_b64_s128")
    assert read.compiler_map is not None
    moved = repack_map(read, read.compiler_map, iterations=50)
    assert moved is not None
    assert check(read, moved) == ()
    before = occupancy(read.program, read.compiler_map)
    after = occupancy(read.program, moved)
    assert before.held_bytes == after.held_bytes == after.peak_bytes
    assert after.peak_bytes < before.peak_bytes
