"""The exact model finds the optimum, and says so only if it is proven.

Fast memory is four times as fast as slow memory, which moves one byte a second, and
buffers have 8 bytes (``named_problems``).
"""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest
from named_problems import (
    FASTER,
    NAMED,
    PINS_THAT_DO_NOT_FIT,
    SLOW,
    W,
    X,
    observed,
    problem,
    reads,
    writes,
)
from small_problems import Sizes, small_problem

from hybridalloc import Problem, Result, Status, solve
from hybridalloc.baselines.brute_force import BruteForce
from hybridalloc.cpsat_models.mapping import CpSat, CpSatOptions
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.program import Access, Buffer, Instruction, Loop, Memory, Program
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Incumbent
from hybridalloc.target import CopyEngine, MemorySpace, Target

PLENTY_S = 60.0
MODEL_ALONE = CpSatOptions(bound_share=0, proof_share=0, guide_share=0)


def unsliced(problem: Problem) -> Problem:
    """The same problem on a target that slices no prefetch."""
    engine = replace(problem.target.copy_engine, max_slices=1)
    return replace(problem, target=replace(problem.target, copy_engine=engine))


def best(problem: Problem, options: CpSatOptions | None = None) -> Result:
    """The result of a search to the end; its map is checked by ``solve``."""
    return solve(problem, CpSat(options), time_limit=PLENTY_S)


@pytest.mark.parametrize("options", [CpSatOptions(), MODEL_ALONE])
@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        # w is held from run to run, 2; x and y are fast, 2 + 2 each; out is slow, 8.
        ("a chain", 18),
        # x is written, 2; w is fetched beside 20; w and x are read, 4; out, 8.
        ("a weight behind a long computation", 34),
        # Written, updated twice and read in fast memory, 2 each; out, 8.
        ("an update in place", 16),
        # x is written, 2; five trips of four fast accesses, 40; x is read, 2; out, 8.
        ("a value carried by a loop", 52),
        # w is held, 2 + 2; x is fast, 2 + 2; the computation takes 30, less 2 of these.
        ("a weight read first and last", 36),
    ],
)
def test_the_optimum_is_as_arithmetic_has_it(
    name: str, seconds: float, options: CpSatOptions
) -> None:
    result = best(unsliced(NAMED[name]), options)
    assert result.status is Status.OPTIMAL
    assert result.time == seconds
    assert result.bound == pytest.approx(seconds, rel=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_no_map_of_a_tiny_problem_is_better(seed: int) -> None:
    """Brute force shares no code with the model."""
    problem = small_problem(seed, Sizes(buffers=3, instructions=5))
    truth = solve(problem, BruteForce(), time_limit=PLENTY_S)
    result = best(problem)
    assert result.status is truth.status
    if truth.time is None:
        assert result.time is None
    else:
        assert result.time == pytest.approx(truth.time, rel=1e-5)


@pytest.mark.parametrize("name", ["a loop over weights", "a donated buffer"])
def test_the_cycles_model_is_exact_as_well(name: str) -> None:
    problem = unsliced(observed(NAMED[name]))
    truth = solve(problem, BruteForce(), time_limit=PLENTY_S)
    assert truth.status is Status.OPTIMAL
    assert truth.time is not None
    assert best(problem, MODEL_ALONE).time == pytest.approx(truth.time, rel=1e-5)


def test_pins_that_do_not_fit_are_proven_not_to() -> None:
    result = best(unsliced(PINS_THAT_DO_NOT_FIT), MODEL_ALONE)
    assert (result.status, result.map) == (Status.INFEASIBLE, None)


def test_what_is_proven_without_slices_is_not_claimed_with_them() -> None:
    """A prefetch in slices holds its space later, so it may fit where this does not."""
    sliced = PINS_THAT_DO_NOT_FIT
    assert sliced.target.copy_engine.max_slices > 1
    assert best(sliced, MODEL_ALONE).status is Status.UNKNOWN
    chain = NAMED["a chain"]
    result = best(chain, MODEL_ALONE)
    assert (result.status, result.time) == (Status.FEASIBLE, 18)
    assert best(chain).status is Status.OPTIMAL  # by the bound for sliced ones


def test_the_answer_is_no_worse_than_a_warm_start() -> None:
    """36 s; it is not given the time to do better."""
    chain = unsliced(NAMED["a chain"])
    for limits in ({"iterations": 0}, {"time_limit": 0.0}):
        result = solve(chain, CpSat(), warm_start=FASTER, **limits)
        assert (result.map, result.time) == (FASTER, 36)


def test_a_warm_start_better_than_any_map_of_the_model_is_kept() -> None:
    """A weight that changes from run to run is no candidate, but valid if given.

    Held for both reads it takes 2 + 2; fetched, at least 8 + 2 + 2.
    """
    changing = Buffer("w", 8, is_input=True, cross_program=False)
    read = Instruction("read", 0.0, (Access(0, read_bytes=8),))
    named = NAMED["a chain"]
    problem = replace(named, program=Program("p", (read, read), (changing,)))
    held = MemoryMap((Allocation(0, 0, 0, 2, Origin.CROSS_PROGRAM),))
    assert best(unsliced(problem)).time == 12
    strategy = CpSat(MODEL_ALONE)
    result = solve(unsliced(problem), strategy, warm_start=held, time_limit=PLENTY_S)
    assert (result.map, result.time) == (held, 4)
    assert (result.status, result.bound) == (Status.FEASIBLE, None)


def test_a_limit_on_iterations_gives_the_same_map_every_time() -> None:
    problem = unsliced(NAMED["more than fits"])
    first, second = (solve(problem, CpSat(), iterations=5, seed=3) for _ in range(2))
    assert first.map == second.map


def test_a_model_that_would_be_too_large_is_not_built() -> None:
    chain, tiny = unsliced(NAMED["a chain"]), CpSatOptions(most_literals=0)
    result = best(chain, replace(tiny, bound_share=0))
    assert (result.map, result.status) == (SLOW, Status.FEASIBLE)
    pins = best(unsliced(NAMED["pinned buffers"]), tiny)
    assert pins.map is not None


def test_ctrl_c_returns_the_best_map_so_far() -> None:
    """It is pressed when the first map is reported, with everything in slow memory."""

    def press(_: Incumbent) -> None:
        signal.raise_signal(signal.SIGINT)

    chain = unsliced(NAMED["a chain"])
    result = solve(chain, CpSat(), time_limit=PLENTY_S, callback=press)
    assert (result.map, result.status) == (SLOW, Status.FEASIBLE)


def test_ctrl_c_while_cp_sat_runs_returns_the_best_map_so_far() -> None:
    """It is pressed when CP-SAT has found its first map."""
    found: list[float] = []

    def press(incumbent: Incumbent) -> None:
        found.append(incumbent.time)
        if len(found) == 2:
            signal.raise_signal(signal.SIGINT)

    problem = unsliced(NAMED["more than fits"])
    result = solve(problem, CpSat(MODEL_ALONE), time_limit=PLENTY_S, callback=press)
    assert result.time == min(found)
    assert result.status is Status.FEASIBLE


def small_target(capacity: int, alignment: int = 1) -> Target:
    """Slow memory moves one byte a second; fast memory is much faster."""
    return Target(
        "small",
        (
            MemorySpace("fast", 32.0, 8.0, capacity, alignment),
            MemorySpace("slow", 1.0, 1.0),
        ),
        flops_per_second=1.0,
        clock_hz=1.0,
        copy_engine=CopyEngine(4, 4, 0.0, max_slices=1),
    )


def test_what_two_loops_with_one_entry_carry_needs_its_place_once() -> None:
    """Fast memory holds nothing but what the loops carry, from before on."""
    program = Program(
        "p",
        (
            Instruction("i0", 0.0, (Access(0, write_bytes=10, whole=True),)),
            Instruction("i1", 0.0, (Access(0, read_bytes=20),)),
            Instruction("i2", 0.0, (Access(0, write_bytes=10, whole=True),)),
            Instruction("i3", 0.0, (Access(0, read_bytes=20), Access(1, read_bytes=4))),
        ),
        (Buffer("x", 10, is_output=True), Buffer("w", 4, is_input=True)),
        (Loop(1, 4, trip_count=3), Loop(1, 3, trip_count=4)),
    )
    problem = Problem(program, small_target(capacity=10))
    result = best(problem)
    truth = solve(problem, BruteForce(), time_limit=PLENTY_S)
    assert result.status is Status.OPTIMAL
    assert result.time == pytest.approx(truth.time)


def test_where_loops_end_together_the_inner_hands_over_to_the_outer() -> None:
    """Weight w is fetched for i3, and still there when the outer loop goes on to i1.

    It is not there at the inner loop's entry, where scratch takes all. The first fetch
    is hidden by i0; then 3 trips of 20 / 32, and 6 of a fetch, 2, and 64 / 32.
    """
    program = Program(
        "p",
        (
            Instruction("i0", 4.0),
            Instruction("i1", 0.0, (Access(0, read_bytes=20),)),
            Instruction("i2", 0.0, scratch_bytes=4),
            Instruction("i3", 0.0, (Access(0, read_bytes=64),)),
        ),
        (Buffer("w", 2, is_input=True, cross_program=False),),
        (Loop(1, 4, trip_count=3), Loop(2, 4, trip_count=2)),
    )
    result = best(Problem(program, small_target(capacity=4)), MODEL_ALONE)
    assert result.status is Status.OPTIMAL
    assert result.time == 4 + 3 * 20 / 32 + 6 * (2 + 64 / 32)


def test_a_pinned_buffer_and_a_loop_share_memory_by_turns() -> None:
    """Both buffers are fetched twice, as fast memory holds only one of them."""
    pinned = Buffer("pinned", 5, is_input=True, memory=Memory.FAST)
    program = Program(
        "p",
        (
            Instruction("i0", 2.0, (Access(0, read_bytes=10),)),
            Instruction("i1", 0.0, (Access(1, read_bytes=22),)),
            Instruction("i2", 1.0, (Access(0, read_bytes=10),)),
            Instruction("i3", 0.0, (Access(1, read_bytes=22),)),
        ),
        (pinned, Buffer("w", 11, is_input=True)),
        (Loop(1, 2, trip_count=1),),
    )
    problem = Problem(program, small_target(capacity=13, alignment=4))
    result = best(problem)
    truth = solve(problem, BruteForce(), time_limit=PLENTY_S)
    assert result.status is Status.OPTIMAL
    assert result.time == pytest.approx(truth.time)


def test_copies_that_span_a_loop_are_ahead_of_those_of_its_body() -> None:
    """The model knows it, or learns it: its time is the simulator's."""
    body = tuple(
        Instruction(f"i{t}", 4.0, (Access(buffer, read_bytes=8),))
        for t, buffer in enumerate((0, 0, 1))
    )
    last = Instruction("last", 0.0, (Access(2, read_bytes=32),))
    weights = tuple(
        Buffer(name, size, is_input=True, cross_program=False)
        for name, size in (("a", 8), ("b", 8), ("c", 32))
    )
    program = Program("p", (*body, last), weights, (Loop(0, 3, trip_count=4),))
    problem = Problem(program, small_target(capacity=42))
    result = best(problem)
    truth = solve(problem, BruteForce(), time_limit=PLENTY_S)
    assert result.status is Status.OPTIMAL
    assert result.time == pytest.approx(truth.time)


def test_an_eviction_may_be_due_while_the_buffer_is_still_held() -> None:
    """Written, 1; copied back beside the computation of 20; then read, 1/4."""
    program = Program(
        "p",
        (
            Instruction("i0", 0.0, (Access(0, write_bytes=8, whole=True),)),
            Instruction("i1", 20.0),
            Instruction("i2", 0.0, (Access(0, read_bytes=8),)),
        ),
        (Buffer("x", 8, is_output=True),),
    )
    problem = Problem(program, small_target(capacity=8))
    result = best(problem, MODEL_ALONE)
    assert result.time == 1 + 20 + 0.25
    assert result.map is not None
    (stay,) = result.map.allocations
    assert stay.eviction is not None
    late = replace(stay, eviction=Eviction(3, 3))
    assert Simulator(problem).simulate(MemoryMap((late,))).time_s == result.time + 8


def test_in_loops_without_trips_copies_cost_nothing_so_nothing_is_proven() -> None:
    """There ``w`` could leave for the scratch, and come back for nothing: 24 s."""
    accesses = (reads(0), writes(1)), (), (), (), (reads(0), reads(1))
    idle = Loop(1, 4, trip_count=0)
    found = problem((W, X), *accesses, scratch={2: 32}, loops=(idle,))
    engine = replace(found.target.copy_engine, max_slices=1)
    found = replace(found, target=replace(found.target, copy_engine=engine))
    result = solve(found, "cpsat", time_limit=10)
    assert result.status is Status.FEASIBLE
    assert result.bound is not None
    assert result.bound <= 24


@pytest.mark.parametrize("strategy", ["cpsat", "greedy>windows"])
def test_loops_that_run_too_often_to_be_counted_are_no_defect(strategy: str) -> None:
    """2^104 times: numbers of this size are no whole numbers to CP-SAT."""
    loops = (Loop(0, 2, 2**52), Loop(1, 2, 2**52))
    inputs = (Buffer("w", 8, is_input=True), Buffer("v", 8, is_input=True))
    read = Instruction("read", 1.0, (Access(0, 8), Access(1, 8)))
    program = Program("often", (read, read), inputs, loops)
    spaces = MemorySpace("fast", 9.0, 9.0, 8), MemorySpace("slow", 1.0, 1.0)
    target = Target("machine", spaces, flops_per_second=1.0, clock_hz=1.0)
    found = solve(Problem(program, target), strategy, time_limit=2)
    assert found.map is not None
