"""What each baseline does on problems whose answers are plain to see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from named_problems import NAMED, V, W, X, problem, reads, target, writes

from hybridalloc import Allocation, Loop, MemoryMap, Problem, UsageError, solve
from hybridalloc.baselines.drop import drop
from hybridalloc.baselines.plan import Plan
from hybridalloc.io.read import read_problem
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Origin
from hybridalloc.program import Access, Buffer
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run
from hybridalloc.stays import Lifetime
from hybridalloc.target import CopyEngine

VARIED = (
    "a weight read first and last",
    "a value that waits long",
    "loops within and beside loops",
)


def time_of(of: Problem, strategy: str) -> float:
    """Simulated seconds of a strategy's map."""
    result = solve(of, strategy, iterations=3)
    assert result.time is not None
    return result.time


def test_slow_leaves_everything_in_slow_memory() -> None:
    result = solve(NAMED["a chain"], "slow")
    assert result.map == MemoryMap()
    assert result.time == Simulator(NAMED["a chain"]).slow_s


def test_replay_hands_back_the_compilers_answer() -> None:
    compiler_map = MemoryMap((Allocation(1, 0, 0, 2),))
    carrying = replace(NAMED["a chain"], compiler_map=compiler_map)
    assert solve(carrying, "replay").map == compiler_map


def test_replay_says_when_there_is_no_answer_to_hand_back() -> None:
    with pytest.raises(UsageError, match="named does not carry the compiler's answer"):
        solve(NAMED["a chain"], "replay")


def test_greedy_keeps_all_but_the_output() -> None:
    """2 + 2, 2 + 2 and 2 + 8 s: w is there from the previous run on."""
    assert time_of(NAMED["a chain"], "greedy") == 18.0


def test_greedy_hides_a_prefetch_behind_a_computation() -> None:
    """2 s to write x, 20 of computation, 2 + 2 to read; the output is left at 8."""
    assert time_of(NAMED["a weight behind a long computation"], "greedy") == 34.0


def test_greedy_waits_for_a_copy_that_saves_more_in_a_loop() -> None:
    """2 s to write x, in which the copy of 8 s begins; a stall of 6; 100 * 2; 2."""
    looping = problem(
        (W, X),
        (writes(1),),
        (reads(0),),
        (reads(1),),
        loops=(Loop(1, 2, trip_count=100),),
        machine=target(cross_program_prefetches=0),
    )
    assert time_of(looping, "greedy") == 210.0


def test_greedy_fetches_for_the_next_run_in_the_idle_tail() -> None:
    """Read at 0, then again at 2; the 30 s between hide both copies."""
    of = NAMED["a weight read first and last"]
    result = solve(of, "greedy", iterations=3)
    assert result.time == Simulator(of).fast_s


def test_greedy_prefers_what_saves_more_where_only_one_fits() -> None:
    """The weight is read twice, the other once, both at the same time."""
    of = problem(
        (W, V, X),
        (writes(2),),
        (reads(0), reads(1)),
        (reads(0), reads(1)),
        (reads(0),),
        compute={0: 20.0},
        machine=target(capacity=8, cross_program_prefetches=0),
    )
    result = solve(of, "greedy", iterations=3)
    assert result.map is not None
    assert {x.buffer for x in result.map.allocations} == {0}


def test_greedy_copes_with_a_tail_copy_that_takes_no_time_to_speak_of() -> None:
    """8e-13 s, which is within rounding of the end of the program."""
    of = problem((W,), (reads(0),), (), compute={1: 1.0})
    fast, slow = of.target.spaces
    quick = replace(slow, read_bandwidth=1e13)
    of = replace(of, target=replace(of.target, spaces=(fast, quick)))
    assert time_of(of, "greedy") == pytest.approx(1.0)


def test_drop_counts_the_start_up_time_of_copies() -> None:
    """8 + 8 s in slow memory; 2 + 2 in fast memory, and 30 + 8 to copy it there."""
    engine = CopyEngine(startup_s=30.0)
    of = problem((W, X), (reads(0),), (), (reads(0),), machine=target(engine=engine))
    loops = Loops(of.program)
    plan, simulator = Plan(of, loops), Simulator(of)
    stay = Lifetime(of.program, loops, 0).stay(0, 1, None)
    assert stay is not None
    assert plan.place(stay, may_stall=True) is not None
    drop(plan, simulator, Run())
    assert plan.memory_map() == MemoryMap()


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_pinned_buffers_are_always_in_fast_memory(name: str) -> None:
    """That their accesses are served there, the checker sees to; also, they must be."""
    result = solve(NAMED["pinned buffers"], name, iterations=1)
    assert result.map is not None
    assert {x.buffer for x in result.map.allocations} == {0, 1, 2}


def test_greedy_beats_the_compiler_on_a_real_program(bundled: Path) -> None:
    of = read_problem(bundled / "bert_base_b16_s128")
    assert of.compiler_map is not None
    assert time_of(of, "greedy") < Simulator(of).simulate(of.compiler_map).time_s


def test_random_maps_are_of_every_kind() -> None:
    kinds: Counter[str] = Counter()
    for name in VARIED:
        for seed in range(20):
            result = solve(NAMED[name], "random", iterations=1, seed=seed)
            assert result.map is not None
            kinds.update(kind for kind in _kinds(NAMED[name], result.map))
    assert set(kinds) == {
        "produced",
        "prefetched",
        "stall only",
        "sliced",
        "evicted",
        "cross-program, whole run",
        "cross-program, head and tail",
        "two at a time",
        "spans a loop",
        "within a loop",
    }


def _kinds(of: Problem, memory_map: MemoryMap) -> Iterator[str]:
    allocations = memory_map.allocations
    for one in allocations:
        if one.origin is Origin.PREFETCHED:
            yield "stall only" if one.start == one.ready else "prefetched"
        if one.origin is Origin.PRODUCED:
            yield "produced"
        if one.origin is Origin.CROSS_PROGRAM and one.start == 0:
            whole = one.end == len(of.program)
            yield f"cross-program, {'whole run' if whole else 'head and tail'}"
        if len(one.slices) > 1:
            yield "sliced"
        if one.eviction:
            yield "evicted"
        for loop in of.program.loops:
            if one.start <= loop.start and loop.end <= one.end:
                yield "spans a loop"
            if loop.start <= one.start and one.end <= loop.end:
                yield "within a loop"
    for one, other in combinations(allocations, 2):
        same = one.buffer == other.buffer
        if same and one.start < other.end and other.start < one.end:
            yield "two at a time"


def test_random_draws_few_slices_however_many_are_allowed() -> None:
    """Of 400 bytes in units of 4 there are 100; no prefetch has more than 64 slices."""
    engine = CopyEngine(max_outstanding_prefetches=1000, max_slices=2**50)
    large = Buffer("large", 400, is_input=True)
    access = Access(0, read_bytes=400)
    machine = target(400, engine=engine, cross_program_prefetches=0)
    cut = problem((large,), (), (), (access,), machine=machine)
    maps = [solve(cut, "random", iterations=1, seed=seed).map for seed in range(20)]
    slices = [len(one.slices) for found in maps if found for one in found.allocations]
    assert 1 < max(slices) <= 64
