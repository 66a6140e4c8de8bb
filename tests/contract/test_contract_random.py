"""Strategies keep to the rules on random problems too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

from hybridalloc import Problem, Status, solve
from hybridalloc.oracle import execute
from hybridalloc.pins import pinned
from hybridalloc.registry import STRATEGIES
from hybridalloc.simulator import Simulator

ITERATIONS = {"annealing": 40, "belady": 4, "greedy": 4}
"""Of changes and of ways to build a map; of all others two."""
ANY_QUALITY = ("random",)
"""What may be slower than everything in slow memory."""


@pytest.mark.parametrize("strategy", [x for x in STRATEGIES if x != "replay"])
@settings(max_examples=50)
@given(problems(pinned=True), st.integers(0, 9), st.booleans())
def test_maps_are_valid_and_no_slower_than_slow_memory_or_the_warm_start(
    strategy: str, problem: Problem, seed: int, is_warm: bool
) -> None:
    """That the checker is silent is what ``solve`` sees to."""
    start = solve(problem, "random", iterations=1, seed=seed) if is_warm else None
    result = solve(
        problem,
        strategy,
        iterations=ITERATIONS.get(strategy, 2),
        seed=seed,
        warm_start=start.map if start else None,
    )
    if result.map is None or result.time is None:
        assert pinned(problem.program)
        assert result.status in (Status.UNKNOWN, Status.INFEASIBLE)
        return
    assert execute(problem, result.map) == ()
    if start and start.time is not None:
        assert result.time <= start.time
    if not pinned(problem.program) and strategy not in ANY_QUALITY:
        assert is_warm or result.time <= Simulator(problem).slow_s


@pytest.mark.parametrize("strategy", ["greedy", "random"])
@settings(max_examples=75)
@given(problems(pinned=True), st.integers(0, 9))
def test_no_copy_is_waited_for_longer_than_it_takes(
    strategy: str, problem: Problem, seed: int
) -> None:
    """Where nothing but bytes takes time."""
    metrics = solve(problem, strategy, iterations=1, seed=seed).metrics
    if metrics is not None and problem.target.copy_engine.startup_s == 0:
        slow = problem.target.slow
        slowest = min(slow.read_bandwidth, slow.write_bandwidth)
        assert metrics.stall_s <= metrics.moved_bytes / slowest * (1 + 1e-9)
