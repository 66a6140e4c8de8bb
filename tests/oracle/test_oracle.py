"""The execution oracle: valid maps change no data, and each corruption is seen.

A word is 4 bytes and every buffer has 8 bytes, so two words, unless said.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import memory_maps, problems

from hybridalloc.checker import check
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.oracle import Mismatch, execute
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.target import MemorySpace, Target

SIZE = 8
SLOW = MemorySpace("slow", 1.0, 1.0)
FETCHED, KEPT = Origin.PREFETCHED, Origin.CROSS_PROGRAM
X, Y, Z, W = range(4)
"""The buffers of the programs below: an input, two temporaries and an output."""


def reads(buffer: int) -> Access:
    """All of it."""
    return Access(buffer, read_bytes=SIZE)


def writes(buffer: int) -> Access:
    """All of it."""
    return Access(buffer, write_bytes=SIZE, whole=True)


def updates(buffer: int) -> Access:
    """In place, one word of it."""
    return Access(buffer, read_bytes=SIZE, write_bytes=4)


def problem(
    *instructions: tuple[Access, ...],
    loops: tuple[Loop, ...] = (),
    reserved: tuple[tuple[int, int], ...] = (),
    scratch: int = 0,
) -> Problem:
    """These instructions on the buffers X, Y, Z and W, with 32 bytes of fast memory.

    ``scratch`` bytes are reserved by instruction 1.
    """
    program = Program(
        "test",
        tuple(
            Instruction(f"i{t}", 0.0, accesses, scratch if t == 1 else 0)
            for t, accesses in enumerate(instructions)
        ),
        (
            Buffer("x", SIZE, is_input=True),
            Buffer("y", SIZE),
            Buffer("z", SIZE),
            Buffer("w", SIZE, is_output=True),
        ),
        loops,
    )
    fast = MemorySpace("fast", 8.0, 8.0, 32, alignment=4, reserved=reserved)
    return Problem(program, Target("t", (fast, MemorySpace("slow", 1, 1)), 1.0, 1.0))


def run(given_problem: Problem, *allocations: Allocation) -> tuple[Mismatch, ...]:
    """Execute the problem under the map of these allocations."""
    return execute(given_problem, MemoryMap(allocations))


def one(mismatches: tuple[Mismatch, ...]) -> tuple[int, int, str]:
    """The only mismatch, as (buffer, words, message up to the colon)."""
    (found,) = mismatches
    return found.buffer, found.words, found.message.split(":")[0]


CHAIN = problem(
    (reads(X), writes(Y)),
    (reads(X), reads(Y), writes(Z)),
    (reads(Y),),
    (reads(Z), writes(W)),
)
APART = problem((writes(Y),), (writes(Z),), (reads(Y),), (reads(Z), writes(W)))
UPDATE = problem((writes(Y),), (reads(X), updates(Y)), (reads(Y),), (writes(W),))
LOOP = problem(
    (writes(Y),),
    (reads(X), updates(Y)),
    (reads(X), reads(Y), writes(Z)),
    (reads(Z), updates(Y)),
    (reads(X), reads(Y), writes(W)),
    loops=(Loop(1, 4, trip_count=10),),
)
REFETCH = problem(
    (writes(W),), (), (reads(X),), (writes(Z),), loops=(Loop(1, 4, trip_count=10),)
)
CROSS = problem((reads(X), writes(Y)), (reads(Y), writes(Z)), (reads(Z), writes(W)), ())
"""Nothing happens in its last instruction, so that X can be fetched again there."""


# Valid maps


def test_allocations_side_by_side_change_nothing() -> None:
    assert run(CHAIN, Allocation(Y, 0, 0, 3), Allocation(Z, 8, 1, 4)) == ()


def test_an_allocation_may_use_the_space_of_one_that_has_ended() -> None:
    w = Allocation(W, 0, 3, 4, eviction=Eviction(4, 4))
    assert run(CHAIN, Allocation(Y, 0, 0, 3), w) == ()


@pytest.mark.parametrize("start", [0, 1])
def test_a_prefetch_serves_reads_from_its_ready_point_on(start: int) -> None:
    assert run(CHAIN, Allocation(X, 0, start, 2, FETCHED, ready=1)) == ()


def test_an_evicted_buffer_is_read_from_slow_memory() -> None:
    assert run(CHAIN, Allocation(Y, 0, 0, 2, eviction=Eviction(1, 2))) == ()


def test_an_evicted_buffer_may_come_back_to_another_place() -> None:
    away = Allocation(Y, 0, 0, 1, eviction=Eviction(1, 1))
    assert run(CHAIN, away, Allocation(Y, 16, 1, 3, FETCHED)) == ()


def test_an_in_place_access_happens_in_the_allocation() -> None:
    assert run(UPDATE, Allocation(Y, 0, 0, 3)) == ()
    assert run(UPDATE, Allocation(Y, 0, 0, 2, eviction=Eviction(2, 2))) == ()


def test_a_slow_copy_stays_readable_while_equal_words_are_written_over_it() -> None:
    program = problem((reads(X),), (reads(X),), (reads(X), writes(W)))
    useless = Allocation(X, 0, 0, 2, FETCHED, eviction=Eviction(1, 2))
    again = Allocation(X, 16, 1, 3, FETCHED, ready=2)
    assert run(program, useless, again) == ()


def test_a_loop_carries_a_buffer_at_one_offset() -> None:
    assert run(LOOP, Allocation(Y, 0, 0, 5)) == ()
    assert run(LOOP, Allocation(Y, 0, 0, 4, eviction=Eviction(4, 4))) == ()


def test_a_copy_may_span_a_loop() -> None:
    """Fetched from point 1 to point 4, both outside of [1, 4): it happens once."""
    assert run(LOOP, Allocation(X, 8, 1, 5, FETCHED, ready=4)) == ()


def test_a_copy_within_a_body_happens_in_each_iteration() -> None:
    """Z is produced in X's space in each iteration, and X fetched there again."""
    assert (
        run(REFETCH, Allocation(X, 0, 1, 3, FETCHED, 2), Allocation(Z, 0, 3, 4)) == ()
    )


def test_either_form_of_the_cross_program_prefetch_leaves_the_input_in_place() -> None:
    z = Allocation(Z, 0, 1, 3)
    whole_run = Allocation(X, 8, 0, 4, KEPT)
    assert run(CROSS, whole_run, z) == ()
    head, tail = Allocation(X, 0, 0, 1, KEPT), Allocation(X, 0, 3, 4, KEPT, ready=4)
    assert run(CROSS, head, z, tail) == ()


def test_reads_are_served_from_the_allocation_that_has_been_ready_longest() -> None:
    program = problem((reads(X),), (writes(Z),), (reads(X), writes(W)))
    first = Allocation(X, 0, 0, 3, FETCHED)
    second = Allocation(X, 16, 0, 3, FETCHED, ready=1)
    assert run(program, second, first, Allocation(Z, 16, 1, 2)) == ()
    found = run(program, second, first, Allocation(Z, 0, 1, 2))
    assert found[0].message.startswith("instruction 2 (i2)")


def test_a_slice_holds_its_space_from_its_own_issue() -> None:
    """Y is in words 0 and 1 until point 3, X in words 1 (from 3) and 2 (from 1)."""
    program = problem((writes(Y),), (), (reads(Y),), (), (reads(X), writes(W)))
    y = Allocation(Y, 0, 0, 3)
    sliced = Allocation(X, 4, 1, 5, FETCHED, ready=4, slices=(Slice(4, 3), Slice(4, 1)))
    assert run(program, y, sliced) == ()
    at_once = replace(sliced, slices=())
    assert one(run(program, y, at_once)) == (Y, 1, "instruction 2 (i2), run 0")


# Corruptions


def test_overlapping_allocations_spoil_a_read_whose_result_is_dead() -> None:
    """Z, in words 1 and 2, is written over the second word of Y; W is still right."""
    found = run(APART, Allocation(Y, 0, 0, 3), Allocation(Z, 4, 1, 4))
    assert one(found) == (Y, 1, "instruction 2 (i2), run 0")


def test_a_read_before_the_copy_is_ready_sees_the_stale_slow_copy() -> None:
    lost, late = Allocation(Y, 0, 0, 1), Allocation(Y, 0, 1, 3, FETCHED, ready=2)
    (found, *_) = run(CHAIN, lost, late)
    assert one((found,)) == (Y, 2, "instruction 1 (i1), run 0")
    assert found.message.endswith("in slow memory")


def test_a_write_in_fast_memory_without_an_eviction_leaves_slow_memory_stale() -> None:
    found = run(CHAIN, Allocation(Y, 0, 0, 2))
    assert one(found) == (Y, 2, "instruction 2 (i2), run 0")


def test_an_eviction_misses_a_write_after_its_issue() -> None:
    """Instruction 1 changes one of the two words while the copy is in flight."""
    found = run(UPDATE, Allocation(Y, 0, 0, 2, eviction=Eviction(1, 2)))
    assert one(found) == (Y, 1, "instruction 2 (i2), run 0")


def test_a_prefetch_misses_a_write_before_it_is_ready() -> None:
    """Instruction 1 changes one of the two words while the copy is in flight."""
    found = run(UPDATE, Allocation(Y, 0, 1, 3, FETCHED, ready=2))
    assert one(found) == (Y, 1, "instruction 2 (i2), run 0")
    assert found[0].message.endswith("in fast memory at offset 0")


def test_an_output_that_is_never_evicted_is_wrong_at_the_end() -> None:
    assert one(run(CHAIN, Allocation(W, 0, 3, 4))) == (W, 2, "output w")


def test_an_allocation_that_nothing_fills_holds_nothing() -> None:
    """Instruction 1 of UPDATE writes only a part of Y, so it cannot produce it."""
    (found, *_) = run(UPDATE, Allocation(Y, 0, 1, 3))
    assert one((found,)) == (Y, 2, "instruction 1 (i1), run 0")


def test_a_loop_that_ends_in_another_place_spoils_its_second_trip() -> None:
    """Instruction 3 updates Y elsewhere; the next trip looks for it at offset 0."""
    first = Allocation(Y, 0, 0, 2, eviction=Eviction(2, 2))
    for others in (), (Allocation(Y, 16, 2, 5, FETCHED),):  # slow memory, offset 16
        (found, *_) = run(LOOP, first, *others)
        assert one((found,)) == (Y, 1, "instruction 1 (i1), run 1")
        assert execute(LOOP, MemoryMap((first, *others)), trips=1) == ()


def test_space_that_a_loop_overwrites_is_spoiled_in_its_second_trip() -> None:
    """X is fetched once, before the loop; within it, Z is produced in X's space."""
    (found, *_) = run(LOOP, Allocation(X, 0, 1, 2, FETCHED), Allocation(Z, 0, 2, 4))
    assert one((found,)) == (X, 2, "instruction 1 (i1), run 1")


def test_cross_program_space_that_is_overwritten_must_be_fetched_again() -> None:
    head, z = Allocation(X, 0, 0, 1, KEPT), Allocation(Z, 0, 1, 3)
    elsewhere = Allocation(X, 16, 3, 4, KEPT, ready=4)
    for others in (), (elsewhere,):
        found = run(CROSS, head, z, *others)
        assert one(found) == (X, 2, "cross-program prefetch of x")


def test_an_overlap_with_the_cross_program_prefetch_shows_at_the_end() -> None:
    """X is in words 0 and 1 for good, Z in words 1 and 2."""
    found = run(CROSS, Allocation(X, 0, 0, 4, KEPT), Allocation(Z, 4, 1, 3))
    assert one(found) == (X, 1, "cross-program prefetch of x")


def test_reserved_ranges_and_scratch_hold_nothing() -> None:
    """Bytes [0, 4), always or while instruction 1 runs, are the first word of Y."""
    instructions = (writes(Y),), (), (reads(Y), writes(W))
    for spoiled in (
        problem(*instructions, reserved=((0, 4),)),
        problem(*instructions, scratch=4),
    ):
        assert run(spoiled, Allocation(Y, 4, 0, 3)) == ()
        (found, *_) = run(spoiled, Allocation(Y, 0, 0, 3))
        assert one((found,)) == (Y, 1, "instruction 2 (i2), run 0")


def test_a_map_that_cannot_be_executed_is_told_as_such() -> None:
    nowhere = Allocation(Y, None, 0, 1)
    expected = Mismatch(Y, 0, "allocation 0: it has no offset")
    assert run(CHAIN, nowhere) == (expected,)


def test_a_word_grows_with_the_memory_to_what_the_offsets_need() -> None:
    """The lower 32 MiB, at alignment 1, become 3 words of 16 MiB, one for Z."""
    fast = replace(APART.target.fast, capacity=2**26, alignment=1)
    target = replace(APART.target, spaces=(fast, APART.target.slow))
    large = replace(APART, target=target)
    y, z = Allocation(Y, 2**24, 0, 3), Allocation(Z, 2**25, 1, 4)
    assert run(large, y, z) == ()
    found = run(large, y, replace(z, offset=2**24))
    assert one(found) == (Y, 1, "instruction 2 (i2), run 0")


def test_fast_memory_is_laid_out_as_far_as_the_map_goes() -> None:
    """Of 2^53 - 1 bytes at alignment 1, the map uses 24."""
    fast = replace(APART.target.fast, capacity=2**53 - 1, alignment=1)
    huge = replace(APART, target=replace(APART.target, spaces=(fast, SLOW)))
    assert run(huge, Allocation(Y, 1, 0, 3), Allocation(Z, 16, 1, 4)) == ()


def test_a_program_that_needs_too_many_words_is_refused() -> None:
    """X of 400 MB: at offset 1000 in 400,000 words, but at 1001 and 2002 + 3 in bytes.

    1001 and 2005 have no common divisor, so that a word is a byte: 400,000,000 of X,
    3 * 8 of the other buffers, and fast memory up to 2005 + 8.
    """
    x, *others = APART.program.buffers
    buffers = (replace(x, size=400_000_000), *others)
    fast = replace(APART.target.fast, capacity=4096, alignment=1)
    large = Problem(
        replace(APART.program, buffers=buffers),
        replace(APART.target, spaces=(fast, SLOW)),
    )
    assert run(large, Allocation(Y, 1000, 0, 3)) == ()
    with pytest.raises(UsageError, match="would need 400002037 words of 1 bytes"):
        run(large, Allocation(Y, 1001, 0, 3), Allocation(Z, 2005, 1, 4))


@given(st.data())
def test_a_map_that_the_checker_accepts_computes_what_the_program_computes(
    data: st.DataObject,
) -> None:
    drawn = data.draw(problems())
    memory_map = data.draw(memory_maps(drawn))
    mismatches = execute(drawn, memory_map)
    assert not mismatches or check(drawn, memory_map)
