"""A map becomes a plan without losing anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import NAMED, W, X, Y, problem, reads, target, writes
from strategies import problems

from hybridalloc import Allocation, Loop, MemoryMap, Problem, solve
from hybridalloc.baselines.adoption import adopt
from hybridalloc.baselines.plan import Plan
from hybridalloc.checker import check
from hybridalloc.io.read import read_problem
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Eviction, Origin, Slice
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run


def adopted(of: Problem, memory_map: MemoryMap) -> tuple[Plan, frozenset[int]]:
    """A plan with a map in it, and the buffers that are best left as they are."""
    plan = Plan(of, Loops(of.program))
    return plan, adopt(plan, memory_map, Run())


def test_sliced_prefetches_and_evictions_stay_as_they_are() -> None:
    """One is written at 0 and back in slow memory at 2, one arrives in halves for 3."""
    of = problem(
        (X, W, Y),
        (writes(0),),
        (reads(0),),
        (writes(2),),
        (reads(1), reads(0)),
        compute={1: 20.0},
    )
    memory_map = MemoryMap(
        (
            Allocation(0, 8, 0, 3, eviction=Eviction(1, 2)),
            Allocation(
                1, 0, 0, 4, Origin.PREFETCHED, 3, slices=(Slice(4, 2), Slice(4, 0))
            ),
        )
    )
    assert check(of, memory_map) == ()
    plan, unusual = adopted(of, memory_map)
    assert plan.memory_map() == memory_map
    assert unusual == frozenset()
    served = [x.stay.instructions for group in plan.placed for x in group]
    assert served == [(0, 1), (3,)]


def test_both_parts_of_a_cross_program_prefetch_are_one_stay() -> None:
    of = NAMED["a weight read first and last"]
    memory_map = MemoryMap(
        (
            Allocation(0, 0, 0, 1, Origin.CROSS_PROGRAM),
            Allocation(0, 0, 2, 3, Origin.CROSS_PROGRAM, 3),
        )
    )
    assert check(of, memory_map) == ()
    plan, _ = adopted(of, memory_map)
    assert [x.allocations for x in plan.placed[0]] == [memory_map.allocations]
    assert plan.placed[0][0].is_cross_program


def test_of_two_allocations_at_a_time_each_has_the_accesses_that_it_serves() -> None:
    """The first is ready longer, so the second serves what comes after its end."""
    of = problem((W,), *[(reads(0),)] * 4, machine=target(cross_program_prefetches=0))
    memory_map = MemoryMap(
        (
            Allocation(0, 0, 0, 3, Origin.PREFETCHED, 0),
            Allocation(0, 8, 1, 4, Origin.PREFETCHED, 1),
        )
    )
    assert check(of, memory_map) == ()
    plan, _ = adopted(of, memory_map)
    assert [x.stay.instructions for x in plan.placed[0]] == [(0, 1, 2), (3,)]
    assert plan.memory_map() == memory_map


def test_what_serves_nothing_is_left_out() -> None:
    of = problem((W,), (reads(0),), ())
    memory_map = MemoryMap((Allocation(0, 0, 1, 2, Origin.PREFETCHED, 2),))
    plan, unusual = adopted(of, memory_map)
    assert plan.memory_map() == MemoryMap()
    assert unusual == frozenset()


def test_a_value_that_two_allocations_carry_around_a_loop_is_unusual() -> None:
    """Neither part could be there without the other, at the same offset."""
    of = problem(
        (X, Y),
        (writes(0),),
        (reads(0),),
        (writes(1),),
        (writes(0),),
        loops=(Loop(1, 4, trip_count=3),),
    )
    memory_map = MemoryMap((Allocation(0, 8, 0, 2), Allocation(0, 8, 3, 4)))
    assert check(of, memory_map) == ()
    plan, unusual = adopted(of, memory_map)
    assert plan.memory_map() == memory_map
    assert unusual == {0}


def test_the_deadline_ends_an_adoption() -> None:
    of = NAMED["a chain"]
    plan = Plan(of, Loops(of.program))
    with pytest.raises(TimeoutError):
        adopt(plan, MemoryMap((Allocation(1, 0, 0, 2),)), Run(deadline=0.0))


@pytest.mark.parametrize("name", ["bert_base_b16_s128", "lstm_lm_b64_s128"])
def test_the_compilers_map_keeps_its_time(bundled: Path, name: str) -> None:
    of = read_problem(bundled / name)
    assert of.compiler_map is not None
    plan, _ = adopted(of, of.compiler_map)
    simulator = Simulator(of)
    assert set(plan.memory_map().allocations) == set(of.compiler_map.allocations)
    assert simulator.simulate(plan.memory_map()).time_s == pytest.approx(
        simulator.simulate(of.compiler_map).time_s, rel=1e-12
    )


@settings(max_examples=60)
@given(problems(pinned=True), st.sampled_from(["greedy", "random"]), st.integers(0, 9))
def test_maps_that_were_built_stay_by_stay_are_found_to_be(
    of: Problem, strategy: str, seed: int
) -> None:
    """Nothing is unusual in them; only what serves nothing is missing."""
    memory_map = solve(of, strategy, iterations=1, seed=seed).map
    if memory_map is None:
        return
    plan, unusual = adopted(of, memory_map)
    again = plan.memory_map()
    assert unusual == frozenset()
    assert check(of, again) == ()
    assert set(again.allocations) <= set(memory_map.allocations)
    before, after = (Simulator(of).simulate(x) for x in (memory_map, again))
    assert after.time_s - after.stall_s == pytest.approx(before.time_s - before.stall_s)
