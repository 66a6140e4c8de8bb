"""What every registered strategy keeps to, on problems of every kind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from named_problems import (
    CHAIN,
    NAMED,
    PINS_THAT_DO_NOT_FIT,
    SLOW,
    W,
    observed,
    reads,
    temporaries,
    writes,
)
from named_problems import problem as problem_of

from hybridalloc import MemoryMap, Problem, Result, Run, Status, UsageError, solve
from hybridalloc.checker import check
from hybridalloc.compose import parse
from hybridalloc.compose.options import options_of
from hybridalloc.oracle import execute
from hybridalloc.problem import CostModel
from hybridalloc.program import Loop
from hybridalloc.registry import STRATEGIES, get_solver, load
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Incumbent

SOLVERS = [name for name in STRATEGIES if name != "replay"]
"""The strategies that look for a map of their own."""
NUMBERS = [
    (name, option.name)
    for name, entry in STRATEGIES.items()
    if not entry.composition
    for option in options_of(load(name)).values()
    if {"int", "float"} & {*option.choice.split(" or ")}
]
"""Strategies and their options that take a number."""
COMPOSITION = "best(first(slow,random),random@5s>greedy(displacements=9))>random"


@pytest.fixture(params=list(CostModel))
def cost_model(request: pytest.FixtureRequest) -> CostModel:
    """Both cost models."""
    return CostModel(request.param)


@pytest.fixture(params=list(NAMED))
def problem(request: pytest.FixtureRequest, cost_model: CostModel) -> Problem:
    """Every named problem, under both cost models, with a map of the compiler's."""
    named = NAMED[request.param]
    if cost_model is CostModel.CYCLES:
        named = observed(named)
    compiler_map = solve(named, "random", iterations=1, seed=1).map
    return replace(named, compiler_map=compiler_map)


@pytest.fixture(params=[*STRATEGIES, COMPOSITION])
def strategy(request: pytest.FixtureRequest) -> str:
    """Every strategy, and one that is composed in every way."""
    return str(request.param)


def answer(problem: Problem, strategy: str, seed: int = 0) -> Result:
    """The result of few iterations, so that it does not depend on the clock."""
    return solve(problem, strategy, iterations=3, seed=seed)


def test_the_map_is_valid_for_the_checker_and_for_the_oracle(
    problem: Problem, strategy: str
) -> None:
    result = answer(problem, strategy)
    if result.map is None:
        assert strategy == "slow"  # which keeps no pins
        assert result.status is Status.UNKNOWN
        return
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert check(problem, result.map) == ()
    assert execute(problem, result.map) == ()


def test_the_time_and_the_metrics_are_those_of_the_simulator(
    problem: Problem, strategy: str
) -> None:
    result = answer(problem, strategy)
    if result.map is None or result.metrics is None:
        assert (result.map, result.time, result.metrics) == (None, None, None)
        return
    simulation = Simulator(problem).simulate(result.map)
    assert result.time == simulation.time_s
    assert result.metrics.stall_s == simulation.stall_s
    assert result.metrics.moved_bytes == simulation.moved_bytes
    assert result.metrics.peak_bytes == result.map.peak_bytes(problem.program)
    assert 0 <= result.metrics.fragmentation < 1
    assert result.bound is None or result.bound <= result.time


def test_the_same_seed_gives_the_same_map(problem: Problem, strategy: str) -> None:
    first, second = (answer(problem, strategy, seed=7) for _ in range(2))
    assert first.map == second.map
    assert first.seed == 7


def test_a_warm_start_is_never_made_worse(problem: Problem, strategy: str) -> None:
    start = answer(problem, "random", seed=3)
    assert start.map is not None
    assert start.time is not None
    result = solve(problem, strategy, iterations=1, warm_start=start.map)
    assert result.warm_start_used
    assert result.time is not None
    assert result.time <= start.time
    assert result.history[0].found_by == "warm start"


def test_no_time_at_all_is_enough_to_come_back(problem: Problem, strategy: str) -> None:
    result = solve(problem, strategy, time_limit=0)
    if result.map is not None:
        assert check(problem, result.map) == ()


def test_an_interrupt_keeps_the_best_map(problem: Problem, strategy: str) -> None:
    seen: list[Incumbent] = []

    def interrupt(incumbent: Incumbent) -> None:
        seen.append(incumbent)
        raise KeyboardInterrupt

    result = solve(problem, strategy, callback=interrupt)
    assert result.history == tuple(seen)
    if seen:
        assert result.map == seen[-1].map
        assert result.status is Status.FEASIBLE


@pytest.mark.parametrize("strategy", SOLVERS)
def test_the_compilers_answer_is_for_replay_alone(
    problem: Problem, strategy: str
) -> None:
    stripped = replace(problem, compiler_map=None)
    assert answer(stripped, strategy).map == answer(problem, strategy).map


@pytest.mark.parametrize("strategy", SOLVERS)
def test_pins_that_do_not_fit_leave_no_answer(strategy: str) -> None:
    result = solve(PINS_THAT_DO_NOT_FIT, strategy, iterations=1)
    assert result.map is None
    assert result.status in (Status.UNKNOWN, Status.INFEASIBLE)


@pytest.mark.parametrize("strategy", [x for x in SOLVERS if x != "random"])
def test_the_first_map_leaves_everything_in_slow_memory(strategy: str) -> None:
    """It is there before there has been time for anything."""
    seen: list[MemoryMap] = []
    outcome = get_solver(strategy).solve(CHAIN, Run(deadline=0, report=seen.append))
    assert [*seen, outcome.map][0] == SLOW


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", f"1{'0' * 300}"])
@pytest.mark.parametrize(("strategy", "option"), NUMBERS)
def test_any_number_as_an_option_is_refused_or_gives_an_answer(
    strategy: str, option: str, value: str
) -> None:
    try:
        solver = parse(f"{strategy}({option}={value})")
    except UsageError:
        return
    for named in ("more than fits", "pinned buffers"):
        result = solve(NAMED[named], solver, iterations=2, time_limit=0.5)
        assert result.map is not None


@pytest.mark.parametrize("strategy", SOLVERS)
def test_the_time_limit_is_kept_where_one_buffer_has_thousands_of_accesses(
    strategy: str,
) -> None:
    """There are two million runs of them; even to list those takes too long."""
    count = 2000
    shared = problem_of(
        (W, *temporaries(count)),
        *((reads(0), writes(1 + t)) for t in range(count)),
    )
    result = solve(shared, strategy, time_limit=0.5)
    assert result.map is not None
    assert result.runtime < 10


@pytest.mark.parametrize("strategy", SOLVERS)
def test_the_time_limit_is_kept_in_hundreds_of_loops_within_loops(
    strategy: str,
) -> None:
    """400 loops of 2 trips; the innermost instruction runs 2 ** 400 times."""
    count = 400
    loops = tuple(Loop(0, count - i, trip_count=2) for i in range(count))
    deep = problem_of((W,), *[(reads(0),)] * count, loops=loops)
    result = solve(deep, strategy, time_limit=0.5)
    assert result.map is not None
    assert result.runtime < 10
