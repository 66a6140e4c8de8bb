"""Brute force finds the best map, as arithmetic and a plainer search have it."""

from __future__ import annotations

import math
import runpy
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from every_map import least_time, own_sets
from named_problems import (
    CHAIN,
    NAMED,
    PINS_THAT_DO_NOT_FIT,
    SLOW,
    W,
    X,
    problem,
    reads,
    target,
    temporaries,
    writes,
)
from small_problems import Sizes, small_problem

from hybridalloc import Problem, Result, Status, solve
from hybridalloc.baselines.brute_force import BruteForce, BruteForceConfig
from hybridalloc.baselines.brute_force.choice import Choice
from hybridalloc.baselines.brute_force.choices import choices
from hybridalloc.baselines.brute_force.dominance import Needs
from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.oracle import execute
from hybridalloc.program import Loop, Memory
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Infeasibility, Run
from hybridalloc.target import CopyEngine

UNSLICED = CopyEngine(max_slices=1)


def best(given: Problem, *, any_input: bool = False) -> Result:
    """The result of a search to the end; its map is checked by ``solve``."""
    config = BruteForceConfig(any_input=any_input)
    return solve(given, BruteForce(config), time_limit=math.inf)


def test_a_chain_keeps_its_input_from_run_to_run() -> None:
    """Input w is held, 2; x and y are fast, 2 + 2 each; the output is slow, 8: 18.

    In fast memory it would take 2, and 8 to evict.
    """
    result = best(replace(CHAIN, target=target(engine=UNSLICED)))
    assert (result.status, result.time, result.bound) == (Status.OPTIMAL, 18, 18)


def test_a_prefetch_hides_behind_a_long_computation() -> None:
    """It is 2 + 2 for x, 2 for w, 20 in which w is copied, and 8 for the output: 34.

    With w in slow memory it is 40.
    """
    hidden = NAMED["a weight behind a long computation"]
    machine = target(engine=UNSLICED, cross_program_prefetches=0)
    result = best(replace(hidden, target=machine))
    assert (result.status, result.time) == (Status.OPTIMAL, 34)
    assert result.map is not None
    assert {x.buffer: x.origin for x in result.map.allocations} == {
        0: Origin.PREFETCHED,
        1: Origin.PRODUCED,
    }


def test_a_value_gives_way_to_another_and_comes_back() -> None:
    """Both are fast, 2 + 2 each; the copies of 8 hide in the two 10: 28.

    With either in slow memory it is 2 + 2 + 8 + 8 + 10 + 10 = 40.
    """
    given = problem(
        (X, *temporaries(1)),
        (writes(0),),
        (),
        (writes(1),),
        (reads(1),),
        (),
        (reads(0),),
        compute={1: 10.0, 4: 10.0},
        machine=target(capacity=8, engine=UNSLICED),
    )
    result = best(given)
    assert (result.status, result.time) == (Status.OPTIMAL, 28)
    assert result.metrics is not None
    assert result.metrics.moved_bytes == 16


def test_a_weight_may_be_fetched_for_the_next_iteration() -> None:
    """Instruction 2 leaves no room for it, and instruction 1 reads it in each trip.

    Fetched within instruction 0 for the first trip, and within instruction 3 for the
    next: 10 + 3 * (2 + 10) = 46. In slow memory it is 10 + 3 * (8 + 10) = 64.
    """
    given = problem(
        (W,),
        (),
        (reads(0),),
        (),
        (),
        compute={0: 10.0, 3: 10.0},
        scratch={2: 8},
        loops=(Loop(1, 4, trip_count=3),),
        machine=target(capacity=8, engine=UNSLICED),
    )
    result = best(given)
    assert (result.status, result.time) == (Status.OPTIMAL, 46)
    assert result.map is not None
    stays = sorted((x.start, x.ready, x.end) for x in result.map.allocations)
    assert stays == [(0, 1, 2), (3, 4, 4)]


def test_what_a_loop_leaves_stays_in_fast_memory() -> None:
    """x: 2, and 2 in each of 4 trips; y: 2 in each, and 2; the output 8: 28."""
    left = NAMED["a value that a loop leaves"]
    result = best(replace(left, target=target(engine=UNSLICED)))
    assert (result.status, result.time) == (Status.OPTIMAL, 28)


def test_two_copies_issued_at_one_point_queue_in_the_better_order() -> None:
    """Both weights are fetched from point 0 on; v, of 4 bytes, is due first.

    Its 4 s are within the 4 of instruction 0, and the 8 of w within the 2 of
    instruction 1, which reads v in 1, and the 6 of instruction 2: 4 + 2 + 6 + 2 = 14.
    The other way round instruction 1 would wait for 8 of the 12 seconds.
    """
    small = replace(W, name="v", size=4)
    given = problem(
        (W, small),
        (),
        (replace(reads(1), read_bytes=4),),
        (),
        (reads(0),),
        compute={0: 4.0, 1: 2.0, 2: 6.0},
        machine=target(capacity=12, engine=UNSLICED, cross_program_prefetches=0),
    )
    assert best(given).time == 14


def test_offsets_may_be_what_forbids_a_map() -> None:
    """Two weights of 8 bytes lie below and above the reserved bytes [8, 12).

    With 20 bytes both are held, 2 + 2. With 19 there are 15 bytes left, yet only for
    one of them: 2 + 8.
    """
    engine, reserved = UNSLICED, ((8, 12),)
    machine = target(20, reserved, engine, cross_program_prefetches=2)
    given = problem((W, replace(W, name="v")), (reads(0), reads(1)), machine=machine)
    assert best(given).time == 4
    assert best(given.with_capacity(19)).time == 10


def test_room_in_two_parts_holds_nothing_larger_than_either() -> None:
    """There are 8 bytes beside [4, 8), 4 on either side: w, of 8, is slow."""
    given = problem((W,), (reads(0),), machine=target(12, ((4, 8),), UNSLICED))
    assert best(given).time == 8


def test_inputs_not_meant_for_it_are_fetched_beforehand_only_if_asked() -> None:
    """Held, w is read in 2; fetched just then, or in slow memory, in 8."""
    changing = replace(W, cross_program=False)
    given = problem((changing,), (reads(0),), machine=target(engine=UNSLICED))
    assert best(given).time == 8
    assert best(given, any_input=True).time == 2


def test_slices_are_not_looked_at_so_nothing_is_proven_where_they_may_help() -> None:
    assert best(CHAIN).status is Status.FEASIBLE


def test_pins_that_do_not_fit_are_proven_infeasible() -> None:
    """Instruction 2 reads w and x, of 8 bytes each, with 12 bytes of fast memory."""
    result = best(PINS_THAT_DO_NOT_FIT)
    assert (result.status, result.map) == (Status.INFEASIBLE, None)
    assert result.infeasibility == Infeasibility(2, 4, ("x", "w"))


def test_a_pinned_value_that_cannot_be_fetched_in_time_is_infeasible() -> None:
    """The first access is no whole write, and no prefetch may be outstanding."""
    engine = CopyEngine(max_outstanding_prefetches=0, max_slices=1)
    machine = target(engine=engine, cross_program_prefetches=0)
    pinned = replace(W, memory=Memory.FAST)
    result = best(problem((pinned,), (reads(0),), machine=machine))
    assert (result.status, result.infeasibility) == (Status.INFEASIBLE, None)


@pytest.mark.parametrize("name", ["pinned buffers", "a donated buffer", "a chain"])
def test_at_the_deadline_nothing_is_claimed(name: str) -> None:
    outcome = BruteForce().solve(NAMED[name], Run(deadline=time.monotonic()))
    status = Status.UNKNOWN if name == "pinned buffers" else Status.FEASIBLE
    assert (outcome.status, outcome.bound) == (status, None)


def test_each_iteration_is_reported_and_counted() -> None:
    seen: list[MemoryMap] = []
    given = replace(CHAIN, target=target(engine=UNSLICED))
    outcome = BruteForce().solve(given, Run(iterations=0, report=seen.append))
    assert (seen, outcome.map, outcome.status) == ([SLOW], SLOW, Status.FEASIBLE)
    outcome = BruteForce().solve(given, Run(report=seen.append))
    assert seen[-1] == outcome.map
    times = [Simulator(given).simulate(x).time_s for x in seen]
    assert times == sorted(times, reverse=True)


def test_a_long_program_is_left_in_slow_memory() -> None:
    count = 4000
    steps = [(writes(0),), *[(reads(0),)] * count]
    given = problem((X,), *steps, machine=target(engine=UNSLICED))
    result = best(given)
    assert (result.status, result.map) == (Status.FEASIBLE, SLOW)


def test_a_better_warm_start_than_is_looked_for_is_not_contradicted() -> None:
    """Input w is not meant to be held; to hold it is valid."""
    changing = replace(W, cross_program=False)
    given = problem((changing,), (reads(0),), machine=target(engine=UNSLICED))
    held = MemoryMap((Allocation(0, 0, 0, 1, Origin.CROSS_PROGRAM),))
    result = solve(given, BruteForce(), warm_start=held)
    assert (result.status, result.time) == (Status.FEASIBLE, 2)


@pytest.mark.parametrize("seed", range(25))
def test_a_plain_search_of_every_map_finds_none_that_is_faster(seed: int) -> None:
    """With at most one allocation of each of two buffers, for three instructions."""
    given = small_problem(seed, Sizes(buffers=2, instructions=3))
    result = best(given)
    plain_s = least_time(given, most=1)
    if result.map is None or result.time is None:
        assert plain_s == math.inf
        return
    assert result.time <= plain_s * (1 + 1e-9)
    counts = np.bincount([0, *(x.buffer for x in result.map.allocations)])
    if counts.max() <= 1:
        assert plain_s <= result.time * (1 + 1e-9)


@pytest.mark.parametrize("seed", [14, 21])
def test_of_all_that_a_buffer_may_do_some_choice_is_as_good(seed: int) -> None:
    """Whatever two allocations the checker accepts, some choice takes no longer."""
    given = small_problem(seed, Sizes(buffers=2, instructions=3))
    simulator = Simulator(given)
    known = [Needs(x) for x in choices(given, 0, any_input=False, run=Run())]
    uses = [use.instruction for use in given.program.uses[0]]
    for chosen in own_sets(given, 0, most=2):
        served = {t for t in uses if any(x.ready <= t < x.end for x in chosen)}
        groups: dict[int | None, list[int]] = {}
        for i, allocation in enumerate(chosen):
            groups.setdefault(allocation.offset, []).append(i)
        mask = sum(1 << t for t in served)
        needs = Needs(Choice(chosen, mask, tuple(map(tuple, groups.values()))))
        seconds = simulator.simulate(MemoryMap(chosen)).time_s
        rivals = [x for x in known if x.choice.served == mask and x.is_as_good(needs)]
        assert rivals, chosen
        for rival in rivals:
            map_ = MemoryMap(rival.choice.allocations)
            assert simulator.simulate(map_).time_s <= seconds * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(100, 115))
def test_the_best_map_keeps_to_the_rules(seed: int) -> None:
    """The checker was silent in ``solve``; so is the oracle here."""
    given = small_problem(seed, Sizes(instructions=5))
    result = best(given)
    if result.map is None:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    assert check(given, result.map) == ()
    assert execute(given, result.map) == ()


def test_a_seed_stands_for_one_problem_within_its_sizes() -> None:
    assert small_problem(5) == small_problem(5)
    for seed in range(50):
        given = small_problem(seed)
        assert len(given.program) <= 6
        assert len(given.program.buffers) <= 4
        assert given.target.copy_engine.max_slices == 1


def test_the_benchmark_tells_what_the_optima_are_like(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(root / "scripts" / "bench_exact_random.py"))["main"]
    main(count=4, seed=50, workers=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("4 problems: ")
    assert [line.split(":")[0] for line in lines[1:]] == [
        *("loops", "stalls", "prefetches", "evictions", "cross-program"),
        "brute force",
    ]
