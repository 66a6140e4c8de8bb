"""What allocations may take, counted unit by unit with the checker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import problem
from named_problems import target as small_target
from strategies import targets

from hybridalloc.bounds.space import free_units, units
from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop
from hybridalloc.target import Target

BYTE = Buffer("byte", 1, is_input=True)


def free_by_checker(given_problem: Problem, t: int) -> int:
    """The units in which a byte may be during an instruction."""
    fast = given_problem.target.fast
    offsets = range(0, given_problem.target.capacity, fast.alignment)
    return sum(
        not check(
            given_problem,
            MemoryMap((Allocation(0, offset, t, t + 1, Origin.PREFETCHED),)),
        )
        for offset in offsets
    )


@given(targets(alignments=(1, 3, 4)), st.lists(st.integers(0, 80), max_size=3))
@settings(max_examples=40)
def test_a_unit_is_free_where_the_checker_lets_a_byte_be(
    target: Target, scratch: list[int]
) -> None:
    engine = replace(target.copy_engine, max_outstanding_prefetches=1)
    drawn = problem(
        (BYTE,),
        *[()] * (len(scratch) + 1),
        scratch=dict(enumerate(scratch)),
        machine=replace(target, copy_engine=engine),
    )
    expected = [free_by_checker(drawn, t) for t in range(len(drawn.program))]
    assert free_units(drawn).tolist() == expected


def test_scratch_and_reserved_ranges_take_whole_units_but_may_share_them() -> None:
    # 32 bytes are 8 units of 4. [12, 18) takes the units 3 and 4; scratch of 13 bytes
    # the units 0 to 3, the last of which is taken already: 8 - 2, and 8 - 4 - 1.
    machine = small_target(reserved=((12, 18),))
    drawn = problem((BYTE,), (), (), scratch={1: 13}, machine=machine)
    assert free_units(drawn).tolist() == [6, 3]


def test_instructions_that_never_run_have_room_for_all_buffers() -> None:
    # 2 + 3 units of 4 bytes, and one more.
    buffers = (Buffer("a", 8, is_input=True), Buffer("b", 9, is_input=True))
    drawn = problem(buffers, (), (), scratch={1: 32}, loops=(Loop(1, 2, 0),))
    assert free_units(drawn).tolist() == [8, 6]


@pytest.mark.parametrize(("size", "taken"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_units_are_rounded_up(size: int, taken: int) -> None:
    assert units(size, 4) == taken
