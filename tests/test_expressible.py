"""Expressible maps: whole stays without evictions, placed by best fit in an order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_problems import small_problem

from hybridalloc import UsageError, solve
from hybridalloc.baselines.random import Random
from hybridalloc.checker import check
from hybridalloc.expressible import deviations, placing_order, project
from hybridalloc.io.read import read_problem
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Memory, Program
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run
from hybridalloc.stays import candidate_stays, cross_program_stays, issue_points
from hybridalloc.target import CopyEngine, MemorySpace, Target

MACHINE = Target(
    "machine",
    (MemorySpace("fast", 100.0, 100.0, 64), MemorySpace("slow", 10.0, 10.0)),
    flops_per_second=1.0,
    clock_hz=1.0,
)


def reads(*buffers: int) -> Instruction:
    return Instruction("reads", 1.0, tuple(Access(b, read_bytes=8) for b in buffers))


def writes(buffer: int) -> Instruction:
    return Instruction("writes", 1.0, (Access(buffer, write_bytes=8, whole=True),))


NOTHING = Instruction("nothing")
W, V = (Buffer(name, 8, is_input=True) for name in "wv")
X = Buffer("x", 8)
OUT = Buffer("out", 8, is_output=True)


def problem(
    buffers: tuple[Buffer, ...],
    *instructions: Instruction,
    loops: tuple[Loop, ...] = (),
    engine: CopyEngine | None = None,
) -> Problem:
    program = Program("program", instructions, buffers, loops)
    machine = replace(MACHINE, copy_engine=engine or CopyEngine())
    return Problem(program, machine).restricted()


def spans(of: Problem, memory_map: MemoryMap) -> set[tuple[str, int, int, int]]:
    buffers = of.program.buffers
    return {
        (buffers[x.buffer].name, x.start, x.ready, x.end)
        for x in memory_map.allocations
    }


def test_prefetches_are_issued_after_what_accesses_memory() -> None:
    """Parameters come first; instructions that do nothing are no place for a copy."""
    of = problem((W, X), NOTHING, NOTHING, writes(1), NOTHING, reads(1), reads(0))
    assert issue_points(of.program) == [2, 3, 5]


def test_in_a_loop_nothing_is_issued_but_after_it() -> None:
    loop = (Loop(1, 3, trip_count=4),)
    body = (reads(0), reads(0))
    of = problem((W,), reads(0), *body, NOTHING, reads(0), loops=loop)
    assert issue_points(of.program) == [0, 1, 4]


def test_a_stay_has_all_accesses_and_no_eviction() -> None:
    of = problem((W, X, OUT), writes(1), reads(0, 1), writes(2), reads(0, 2))
    found = [
        (stay.buffer, stay.start, stay.end, stay.produced)
        for stay in candidate_stays(of, Loops(of.program))
    ]
    assert found == [(0, 1, 4, False), (1, 0, 2, True)]


def test_nothing_is_prefetched_in_a_loop() -> None:
    loop = (Loop(1, 3, trip_count=4),)
    of = problem((W, X), NOTHING, writes(1), reads(0, 1), loops=loop)
    found = [x.buffer for x in candidate_stays(of, Loops(of.program)) if x.body]
    assert found == [1]


def test_a_cross_program_prefetch_holds_its_place_to_the_end() -> None:
    of = problem((W, V), reads(0), reads(0, 1), reads(1))
    found = cross_program_stays(of, Loops(of.program))
    assert [(x.buffer, x.start, x.end) for x in found] == [(0, 0, 3), (1, 0, 3)]


def test_a_buffer_served_at_first_is_served_to_the_last() -> None:
    of = problem((W, X), writes(1), NOTHING, reads(0, 1), reads(1), reads(0))
    part = MemoryMap(
        (
            Allocation(0, 0, 1, 3, Origin.PREFETCHED, ready=2),
            Allocation(1, 8, 0, 4),
        )
    )
    assert spans(of, project(of, part)) == {("w", 0, 2, 5), ("x", 0, 0, 4)}
    assert [x.buffer for x in deviations(of, part)] == [0]


def test_a_buffer_not_served_at_first_is_left_out() -> None:
    of = problem((W,), reads(0), reads(0), reads(0))
    later = MemoryMap((Allocation(0, 0, 1, 3, Origin.PREFETCHED, ready=2),))
    assert project(of, later) == MemoryMap()


def test_an_issue_point_moves_back_over_what_does_nothing() -> None:
    of = problem((W, X), writes(1), NOTHING, NOTHING, reads(1), reads(0))
    late = MemoryMap((Allocation(0, 0, 3, 5, Origin.PREFETCHED, ready=4),))
    assert spans(of, project(of, late)) == {("w", 1, 4, 5)}


def test_no_copy_is_issued_right_before_its_use() -> None:
    of = problem((W, X), writes(1), reads(1), reads(0))
    at_once = MemoryMap((Allocation(0, 0, 2, 3, Origin.PREFETCHED, ready=2),))
    assert spans(of, project(of, at_once)) == {("w", 1, 2, 3)}
    first = problem((W,), reads(0), reads(0))
    none = MemoryMap((Allocation(0, 0, 0, 2, Origin.PREFETCHED, ready=0),))
    assert project(first, none) == MemoryMap()


def test_no_more_copies_are_outstanding_than_may_be() -> None:
    engine = CopyEngine(max_outstanding_prefetches=1)
    of = problem((W, V, X), writes(2), NOTHING, reads(2), reads(0, 1), engine=engine)
    both = MemoryMap(
        (
            Allocation(0, 0, 1, 4, Origin.PREFETCHED, ready=2),
            Allocation(1, 8, 2, 4, Origin.PREFETCHED, ready=3),
        )
    )
    found = project(of, both)
    assert len(found) == 1
    assert not check(of, found)


@given(st.integers(0, 10_000), st.integers(0, 3))
def test_a_projection_is_valid_and_its_own(seed: int, draw: int) -> None:
    of = small_problem(seed)
    if any(x.memory is Memory.FAST for x in of.program.buffers):
        return
    given_map = Random().solve(of, Run(iterations=1, seed=draw)).map
    if given_map is None:
        return
    only = of.restricted()
    found = project(only, given_map)
    assert not check(only, found)
    assert project(only, found) == found
    assert not deviations(only, found)
    offsets = placing_order(only, found.allocations).offsets
    assert [x.offset for x in found.allocations] == list(offsets)


@pytest.mark.parametrize("strategy", ["greedy", "msa", "lp", "greedy>search", "hybrid"])
def test_every_strategy_answers_with_an_expressible_map(
    bundled: Path, strategy: str
) -> None:
    of = read_problem(bundled / "mixer_block_b128")
    result = solve(of, strategy, time_limit=2, expressible=True)
    assert result.map is not None
    assert not deviations(of.restricted(), result.map)
    assert result.time is not None
    assert result.time < 0.9 * Simulator(of).slow_s


def test_an_expressible_answer_is_no_worse_than_its_start(bundled: Path) -> None:
    of = read_problem(bundled / "gcn3_train_n4096")
    assert of.compiler_map is not None
    start = project(of.restricted(), of.compiler_map)
    one, other = (
        solve(of, "greedy>search", iterations=200, warm_start=x, expressible=True)
        for x in (start, of.compiler_map)
    )
    assert one.history[0].map == other.history[0].map == start
    assert one.map == other.map


def test_the_compilers_own_answer_may_have_slices(bundled: Path) -> None:
    of = read_problem(bundled / "mixer_block_b128")
    assert of.compiler_map is not None
    assert any(x.slices for x in of.compiler_map.allocations)
    found = solve(of, "replay", expressible=True).map
    assert found == project(of.restricted(), of.compiler_map)


def test_what_is_pinned_cannot_be_said() -> None:
    pinned = replace(W, memory=Memory.FAST)
    of = problem((pinned,), reads(0))
    with pytest.raises(UsageError, match="buffer w must be in fast memory"):
        solve(of, "greedy", expressible=True)


def test_an_invalid_start_is_refused() -> None:
    of = problem((W,), reads(0), reads(0))
    wrong = MemoryMap((Allocation(0, 60, 0, 2, Origin.PREFETCHED, ready=0),))
    with pytest.raises(UsageError, match="not a valid map"):
        solve(of, "greedy", warm_start=wrong, expressible=True)
