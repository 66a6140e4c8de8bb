"""Explanations; slow memory moves a byte a second, fast memory four."""

from __future__ import annotations

from dataclasses import replace

import pytest
from named_problems import (
    NAMED,
    W,
    X,
    Y,
    observed,
    problem,
    reads,
    target,
    writes,
)

from hybridalloc import solve
from hybridalloc.checker import check
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Memory
from hybridalloc.simulator import simulate
from hybridalloc.target import CopyEngine
from hybridalloc.understanding import Explanation, explain
from hybridalloc.understanding.explanation import Barrier, Limit, Verdict

WEIGHT = NAMED["a weight behind a long computation"]
"""8 s, a computation of 20 s, and 24 s: w, x and out move 8 bytes each."""
PREFETCH = Allocation(0, 0, 1, 3, Origin.PREFETCHED, ready=2)
NO_MAP = MemoryMap()


def test_there_is_room_for_a_weight_whose_copy_a_computation_hides() -> None:
    found = explain(WEIGHT, NO_MAP, "w")
    access, miss = found.accesses[0], found.misses[0]
    assert (access.fast, access.elapsed_s, access.saving_s) == (False, 24.0, 6.0)
    assert (found.time_s, found.without_s, found.saving_s) == (52.0, None, None)
    assert miss.verdict is Verdict.ROOM
    assert miss.placed is not None
    assert miss.placed.allocations == (replace(PREFETCH, offset=0),)
    assert (miss.placed.time_s, miss.placed.change_s) == (46.0, -6.0)
    assert (miss.placed.stall_change_s, miss.placed.copy_s) == (0.0, 8.0)


def test_a_buffer_in_fast_memory_says_what_it_saves_and_where_it_is() -> None:
    found = explain(WEIGHT, MemoryMap((PREFETCH,)), 0)
    assert (found.time_s, found.without_s, found.saving_s) == (46.0, 52.0, 6.0)
    assert [x.saving_s for x in found.accesses if x.fast] == [6.0]
    assert [(x.start, x.end, x.accesses) for x in found.places] == [
        (0, 1, 0),
        (1, 3, 1),
    ]
    assert found.places[1].allocation == PREFETCH
    assert found.misses == ()


def test_a_copy_that_nothing_hides_does_not_pay() -> None:
    """The read would take 2 s, not 8, but wait 8 s for the copy."""
    found = explain(problem((W,), (reads(0),)), NO_MAP, "w")
    miss = found.misses[0]
    assert miss.verdict is Verdict.COPIES
    assert miss.placed is not None
    assert (miss.placed.change_s, miss.placed.stall_change_s) == (2.0, 8.0)


TWO = problem(
    (X, Y),
    (writes(0), writes(1)),
    (reads(0), reads(1)),
    (reads(0),),
    machine=target(capacity=8),
)
"""Room for one: x saves 6 s three times, y twice."""


def test_others_that_are_worth_more_are_in_the_way() -> None:
    found = explain(TWO, MemoryMap((Allocation(0, 0, 0, 3),)), "y")
    miss = found.misses[0]
    assert (miss.verdict, miss.saving_s) == (Verdict.TAKEN, 12.0)
    assert [(x.name, x.index, x.worth_s) for x in miss.blockers] == [("x", 0, 18.0)]
    assert miss.blockers_loss_s == 18.0
    assert miss.trade is not None
    assert miss.trade.change_s == 6.0


def test_others_that_are_worth_less_had_better_give_way() -> None:
    found = explain(TWO, MemoryMap((Allocation(1, 0, 0, 2),)), "x")
    miss = found.misses[0]
    assert (miss.verdict, miss.blockers_loss_s) == (Verdict.TRADE, 12.0)
    assert miss.trade is not None
    assert (miss.trade.removed, miss.trade.change_s) == ((0,), -6.0)


def test_a_stay_may_be_kept_longer() -> None:
    """The last read saves 6 s, and the copy back to slow memory is not needed."""
    waits = problem((X,), (writes(0),), (reads(0),), (), (reads(0),), compute={2: 20.0})
    stay = Allocation(0, 4, 0, 3, eviction=Eviction(1, 3))
    placed = explain(waits, MemoryMap((stay,)), "x").misses[0].placed
    assert placed is not None
    assert (placed.removed, placed.change_s, placed.moved_change_bytes) == (
        (0,),
        -6,
        -8,
    )
    assert placed.allocations == (Allocation(0, 4, 0, 4),)


def test_a_stay_may_begin_earlier() -> None:
    """One copy serves both reads; the first one saves 6 s."""
    twice = problem((W,), (), (reads(0),), (), (reads(0),), compute={0: 20.0, 2: 20.0})
    stay = Allocation(0, 4, 2, 4, Origin.PREFETCHED, ready=3)
    placed = explain(twice, MemoryMap((stay,)), "w").misses[0].placed
    assert placed is not None
    assert (placed.removed, placed.change_s, placed.moved_change_bytes) == ((0,), -6, 0)
    assert placed.allocations == (Allocation(0, 0, 0, 4, Origin.PREFETCHED, ready=1),)


def test_memory_that_an_instruction_needs_cannot_be_cleared_but_a_part_fits() -> None:
    """Scratch fills fast memory at the first read; the second one saves 6 s."""
    scratch = problem(
        (W,),
        (),
        (reads(0),),
        (),
        (reads(0),),
        compute={0: 20.0, 2: 20.0},
        scratch={1: 32},
    )
    miss = explain(scratch, NO_MAP, "w").misses[0]
    assert (miss.verdict, miss.placed, miss.blockers) == (Verdict.FIXED, None, ())
    assert miss.part is not None
    assert (miss.part.first, miss.part.last, miss.part.change_s) == (1, 1, -6.0)


def test_a_copy_engine_that_takes_no_copies_is_told_by_the_rule() -> None:
    machine = target(engine=CopyEngine(max_outstanding_prefetches=0))
    miss = explain(replace(WEIGHT, target=machine), NO_MAP, "w").misses[0]
    assert (miss.verdict, miss.placed) == (Verdict.RULES, None)
    assert miss.violation is not None
    assert "outstanding" in miss.violation


def test_computation_can_take_longer_than_all_traffic() -> None:
    bound = problem((W,), (reads(0),), compute={0: 100.0})
    found = explain(bound, NO_MAP, "w")
    assert (found.accesses[0].saving_s, found.accesses[0].limit) == (0.0, Limit.COMPUTE)
    assert found.misses[0].verdict is Verdict.NOTHING_TO_GAIN


@pytest.mark.parametrize(
    ("buffer", "barrier"),
    [
        (replace(W, memory=Memory.SLOW), Barrier.EXCLUDED),
        (Buffer("w", 36, is_input=True), Barrier.TOO_LARGE),
        (Buffer("w", 0, is_input=True), Barrier.EMPTY),
    ],
)
def test_some_buffers_can_never_be_in_fast_memory(
    buffer: Buffer, barrier: Barrier
) -> None:
    found = explain(problem((buffer,), (reads(0),)), NO_MAP, "w")
    assert found.barrier is barrier
    assert [x.verdict for x in found.misses] == [Verdict.BARRED]


def test_an_access_in_a_loop_saves_in_every_iteration() -> None:
    """Five reads of 8 bytes; the copy is issued once, before the loop."""
    found = explain(NAMED["a loop over weights"], NO_MAP, "w")
    assert (found.accesses[0].runs, found.accesses[0].saving_s) == (5, 30.0)
    placed = found.misses[0].placed
    assert placed is not None
    assert (placed.allocations[0].ready, placed.allocations[0].end) == (1, 3)
    assert placed.change_s < 0


def test_some_inputs_could_be_left_there_by_the_previous_run() -> None:
    """Not those that are outputs too, or written, or differ from run to run."""
    inputs = (W, replace(W, name="v", cross_program=False), replace(W, name="u"))
    case = problem((*inputs, X), (reads(0), reads(1), writes(2), writes(3)))
    found = [explain(case, NO_MAP, i).cross_program for i in range(4)]
    assert found == [True, False, False, False]
    none = replace(case, target=replace(case.target, cross_program_prefetches=0))
    assert not explain(none, NO_MAP, 0).cross_program


def test_a_pinned_buffer_has_no_time_without_fast_memory() -> None:
    pinned = problem((replace(X, memory=Memory.FAST),), (writes(0),), (reads(0),))
    assert explain(pinned, MemoryMap((Allocation(0, 0, 0, 2),)), "x").without_s is None


def test_an_invalid_map_is_refused_with_its_first_violation() -> None:
    stale = MemoryMap((Allocation(2, 0, 2, 3),))
    with pytest.raises(UsageError, match="the map is not valid: output: "):
        explain(WEIGHT, stale, "w")


def maps(case: Problem) -> list[MemoryMap]:
    """All in slow memory, if that is valid, and what greedy finds."""
    found = solve(case, "greedy", iterations=1).map
    return [x for x in (NO_MAP, found) if x is not None and not check(case, x)]


def every(case: Problem) -> list[tuple[MemoryMap, Explanation]]:
    """The explanation of each buffer under each map."""
    return [
        (memory_map, explain(case, memory_map, index))
        for memory_map in maps(case)
        for index in range(len(case.program.buffers))
    ]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("estimated", [False, True])
def test_every_placement_that_is_told_of_is_valid_and_takes_what_is_told(
    name: str, estimated: bool
) -> None:
    case = observed(NAMED[name]) if estimated else NAMED[name]
    for memory_map, found in every(case):
        for miss in found.misses:
            for trial in filter(None, (miss.placed, miss.part, miss.trade)):
                changed = trial.apply(memory_map)
                assert check(case, changed) == ()
                assert simulate(case, changed).time_s == trial.time_s
                assert trial.change_s == pytest.approx(trial.time_s - found.time_s)


@pytest.mark.parametrize("name", NAMED)
def test_every_access_served_from_slow_memory_belongs_to_one_miss(name: str) -> None:
    for _, found in every(NAMED[name]):
        missed = [i for x in found.misses for i in range(x.first, x.last + 1)]
        slow = [i for i, access in enumerate(found.accesses) if not access.fast]
        assert missed == slow
        served = sum(x.accesses for x in found.places if x.allocation)
        assert served >= len(found.accesses) - len(slow)
